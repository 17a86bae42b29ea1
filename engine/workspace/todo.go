package workspace

import "errors"

var errTodo = errors.New("workspace: not built yet")
