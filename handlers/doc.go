// Package handlers speaks HTTP: it parses a request, makes one call and renders
// the answer. One file per noun; routes.go is the list of everything that can
// be asked for and who may.
//
// Whatever is not declared open in that list needs a login; see requireLogin.
package handlers
