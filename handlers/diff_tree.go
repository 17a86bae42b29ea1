package handlers

import (
	"strings"

	"donewhen/engine"
	"donewhen/views"
)

// diffTreeRows is how many rows the tree of changed files has at most; folders
// beyond them are links to a page of their own.
const diffTreeRows = 160

// diffTree is the changed files as folders. Their order is the list's, in which
// the files of a folder stand together. Chains of folders with nothing else in
// them are one row.
func diffTree(files []engine.ChangedFile, dir string, rows int, file func(i int) string, folder func(dir string) string) []views.DiffNode {
	root := diffFolder(files, 0, dir, file)
	rows -= len(root.Nodes)
	if rows < 0 { // the root itself has too many
		root.Nodes = root.Nodes[:len(root.Nodes)+rows]
	}
	// Breadth first: what is near the root is shown before what is deep.
	var wait []*views.DiffNode
	push := func(nodes []views.DiffNode) {
		for i := range nodes {
			if nodes[i].Folder {
				wait = append(wait, &nodes[i])
			}
		}
	}
	for push(root.Nodes); len(wait) > 0; wait = wait[1:] {
		n := wait[0]
		if rows < len(n.Nodes) {
			n.Nodes, n.Href = nil, folder(n.Path)
			continue
		}
		rows -= len(n.Nodes)
		push(n.Nodes)
	}
	return root.Nodes
}

// diffFolder is the folder dir ("" or ending in a slash) with the files, of
// which the first is number first of the list.
func diffFolder(files []engine.ChangedFile, first int, dir string, file func(i int) string) views.DiffNode {
	out := views.DiffNode{Folder: true, Path: dir}
	for i := 0; i < len(files); {
		f := files[i]
		name, _, inside := strings.Cut(strings.TrimPrefix(f.Path, dir), "/")
		if !inside {
			out.Add(views.DiffNode{Name: name, Path: f.Path, Href: file(first + i), Status: f.Status, Added: f.Added, Deleted: f.Deleted, Files: 1})
			i++
			continue
		}
		below := dir + name + "/"
		end := i + 1
		for end < len(files) && strings.HasPrefix(files[end].Path, below) {
			end++
		}
		sub := diffFolder(files[i:end], first+i, below, file)
		sub.Name = name
		if len(sub.Nodes) == 1 && sub.Nodes[0].Folder {
			sub = sub.Nodes[0]
			sub.Name = name + "/" + sub.Name
		}
		out.Add(sub)
		i = end
	}
	return out
}
