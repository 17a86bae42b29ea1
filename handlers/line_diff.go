package handlers

import (
	"strings"

	"donewhen/views"
)

// diffLines is the difference of two texts line by line: a longest common
// subsequence between equal beginnings and ends. Texts too different for it to
// be worth the time are shown as all of one and all of the other.
func diffLines(old, new string) []views.TextLine {
	a, b := textLines(old), textLines(new)
	var out []views.TextLine
	at, bt := 0, 0
	same := func() {
		out = append(out, views.TextLine{Kind: " ", Old: at + 1, New: bt + 1, Text: a[at]})
		at++
		bt++
	}
	gone := func() { out = append(out, views.TextLine{Kind: "-", Old: at + 1, Text: a[at]}); at++ }
	come := func() { out = append(out, views.TextLine{Kind: "+", New: bt + 1, Text: b[bt]}); bt++ }

	for at < len(a) && bt < len(b) && a[at] == b[bt] {
		same()
	}
	endA, endB := len(a), len(b)
	for endA > at && endB > bt && a[endA-1] == b[endB-1] {
		endA--
		endB--
	}
	// common[i][j] is the length of the longest common subsequence of the middle's rests.
	n, m := endA-at, endB-bt
	if n*m <= 4_000_000 {
		fromA, fromB := at, bt
		common := make([][]int, n+1)
		for i := range common {
			common[i] = make([]int, m+1)
		}
		for i := n - 1; i >= 0; i-- {
			for j := m - 1; j >= 0; j-- {
				if a[fromA+i] == b[fromB+j] {
					common[i][j] = common[i+1][j+1] + 1
				} else {
					common[i][j] = max(common[i+1][j], common[i][j+1])
				}
			}
		}
		for at < endA && bt < endB {
			switch {
			case a[at] == b[bt]:
				same()
			case common[at-fromA+1][bt-fromB] >= common[at-fromA][bt-fromB+1]:
				gone()
			default:
				come()
			}
		}
	}
	for at < endA {
		gone()
	}
	for bt < endB {
		come()
	}
	for at < len(a) {
		same()
	}
	return out
}

func textLines(s string) []string {
	s = strings.TrimSuffix(strings.ReplaceAll(s, "\r\n", "\n"), "\n")
	if s == "" {
		return nil
	}
	return strings.Split(s, "\n")
}
