package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// How a task text reaches a program.
const (
	taskStdin = "stdin"
	taskFile  = "file"
	taskArg   = "arg"
)

// maxArg is the longest text that is passed as one argument. Linux takes 128 KiB
// with the final zero byte; the rest is room for what stands around it.
const maxArg = 120 << 10

// runFolder is the begin of the names of runs' temporary folders.
func runFolder(runID int64) string { return "run-" + strconv.FormatInt(runID, 10) + "-" }

// writeTask puts the task text into a file of its own outside the workspace, so
// that it is no part of the work. remove takes file and folder away.
func writeTask(tempDir string, runID int64, text string) (file string, remove func(), err error) {
	if err := os.MkdirAll(tempDir, 0o700); err != nil {
		return "", nil, fmt.Errorf("make the folder for task files: %w", err)
	}
	dir, err := os.MkdirTemp(tempDir, runFolder(runID))
	if err != nil {
		return "", nil, fmt.Errorf("make a folder for the task file: %w", err)
	}
	file = filepath.Join(dir, "task.md")
	if err := os.WriteFile(file, []byte(text), 0o400); err != nil {
		os.RemoveAll(dir)
		return "", nil, fmt.Errorf("write the task file: %w", err)
	}
	return file, func() { os.RemoveAll(dir) }, nil
}

// tooLong is the message for a text that cannot be passed as an argument.
func tooLong(what string, size int, instead string) error {
	return fmt.Errorf("%s has %d KB and at most %d KB can be passed as an argument; %s", what, (size+1023)>>10, maxArg>>10, instead)
}
