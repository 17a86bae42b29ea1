package handlers

import (
	"strings"

	"donewhen/engine"
	"donewhen/views"
)

// Bounds of the tree of changed files; folders beyond them are links to a page
// of their own.
const (
	diffTreeRows = 160
	diffTreeDeep = 8 // folders in folders
)

// diffTree is the changed files as folders. Their order is the list's, in which
// the files of a folder stand together. Chains of folders with nothing else in
// them are one row.
func diffTree(files []engine.ChangedFile, dir string, rows int, file func(i int) string, folder func(dir string) string) []views.DiffNode {
	root := diffFolder(files, dir)
	for i := range root.Nodes {
		if rows -= rowsOf(root.Nodes[i : i+1]); rows < 0 { // the root itself has too many
			root.Nodes = root.Nodes[:i]
			break
		}
	}
	// Breadth first: what is near the root is shown before what is deep.
	type place struct {
		node *views.DiffNode
		deep int
	}
	var wait []place
	push := func(nodes []views.DiffNode, deep int) {
		for i := range nodes {
			if n := &nodes[i]; n.Folder {
				wait = append(wait, place{n, deep})
			} else {
				n.Href = file(n.First)
			}
		}
	}
	for push(root.Nodes, 1); len(wait) > 0; wait = wait[1:] {
		n, deep := wait[0].node, wait[0].deep
		need := rowsOf(n.Nodes)
		if rows < need || deep > diffTreeDeep {
			n.Nodes, n.Href = nil, folder(n.Path)
			continue
		}
		rows -= need
		push(n.Nodes, deep+1)
	}
	return root.Nodes
}

// rowsOf is how much room nodes take: each is a row, with an address that is as
// long as its path.
func rowsOf(nodes []views.DiffNode) (rows int) {
	for _, n := range nodes {
		rows += 1 + len(n.Path)/256
	}
	return rows
}

// diffFolder is the folder dir ("" or ending in a slash) with all of the files,
// which are in it. Each path is looked at once, whatever its depth: a folder is
// opened where two neighbours part, and none for what lies on the way there.
func diffFolder(files []engine.ChangedFile, dir string) views.DiffNode {
	open := []views.DiffNode{{Folder: true, Path: dir}} // from the root down to where the last file was put
	top := func() *views.DiffNode { return &open[len(open)-1] }
	// leave closes the folders that are not above path[:size].
	leave := func(path string, size int) {
		for len(top().Path) > size {
			sub := *top()
			open = open[:len(open)-1]
			if len(top().Path) < size {
				open = append(open, views.DiffNode{Folder: true, Path: path[:size], First: sub.First})
			}
			sub.Name = sub.Path[len(top().Path) : len(sub.Path)-1]
			top().Add(sub)
		}
	}
	before := ""
	for i, f := range files {
		leave(f.Path, max(len(dir), commonDir(before, f.Path)))
		in := strings.LastIndexByte(f.Path, '/') + 1
		if in > len(top().Path) {
			open = append(open, views.DiffNode{Folder: true, Path: f.Path[:in], First: i})
		}
		top().Add(views.DiffNode{Name: f.Path[in:], Path: f.Path, First: i, Status: f.Status, Added: f.Added, Deleted: f.Deleted, Files: 1})
		before = f.Path
	}
	leave(before, len(dir))
	return open[0]
}

// commonDir is how much of two paths is the folder that both are in, its slash
// counted.
func commonDir(a, b string) (size int) {
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			size = i + 1
		}
	}
	return size
}
