package dod

import "strings"

const (
	fewTexts       = 8       // up to here one strings.Index each is faster
	maxFinderState = 1 << 16 // bounds the automaton's memory, whatever the texts
	maxVerify      = 64      // failed comparisons of one long text before strings.Index takes over
)

// finder looks for many texts in one pass (Aho-Corasick, as a table over the
// bytes that occur in the texts). Each text is reported once, at its first hit;
// a finder is used up by that and is not for concurrent use.
type finder struct {
	texts  []string
	ids    map[string][]int // equal texts share one entry
	open   map[string]bool  // entries not found yet
	single []string         // the entries, when there are few

	classes  [256]uint16 // byte to column; 0: in no text
	columns  int
	next     []int32    // state*columns+column to state
	accept   []int32    // nearest state of the suffix chain, itself included, that ends an entry; -1
	fallback []int32    // the next such state behind it; -1
	entries  [][]string // state to the entries whose (bounded) beginning ends there
	prefix   int        // entries longer than this are compared in full at a hit
}

func newFinder(texts []string) *finder {
	f := &finder{texts: texts, ids: map[string][]int{}, open: map[string]bool{}}
	for i, text := range texts {
		if text == "" {
			continue // would be everywhere
		}
		f.ids[text] = append(f.ids[text], i)
		f.open[text] = true
	}
	if len(f.ids) <= fewTexts {
		for text := range f.ids {
			f.single = append(f.single, text)
		}
		return f
	}
	f.build()
	return f
}

// find reports each text that is still open and occurs in s, with the offset of
// its first hit's end.
func (f *finder) find(s string, report func(text, end int)) {
	if len(f.open) == 0 {
		return
	}
	if f.next == nil {
		for _, text := range f.single {
			if at := strings.Index(s, text); f.open[text] && at >= 0 {
				f.close(text, at+len(text), report)
			}
		}
		return
	}
	failures := map[string]int{}
	var state int32
	for i := 0; i < len(s); i++ {
		state = f.next[int(state)*f.columns+int(f.classes[s[i]])]
		for hit := f.accept[state]; hit >= 0; hit = f.fallback[hit] {
			for _, text := range f.entries[hit] {
				if f.open[text] {
					f.verify(s, text, i+1, failures, report)
				}
			}
		}
		if len(f.open) == 0 {
			return
		}
	}
}

// verify closes text if it really stands where its beginning ended at end.
func (f *finder) verify(s, text string, end int, failures map[string]int, report func(text, end int)) {
	if len(text) <= f.prefix {
		f.close(text, end, report)
		return
	}
	start := end - f.prefix
	switch {
	case strings.HasPrefix(s[start:], text):
		f.close(text, start+len(text), report)
	case failures[text] < maxVerify:
		failures[text]++
		if failures[text] == maxVerify {
			// Evidence made of beginnings would cost a comparison at every byte.
			if at := strings.Index(s[start:], text); at >= 0 {
				f.close(text, start+at+len(text), report)
			}
		}
	}
}

func (f *finder) close(text string, end int, report func(text, end int)) {
	delete(f.open, text)
	for _, id := range f.ids[text] {
		report(id, end)
	}
}

// bound picks how much of each text goes into the automaton.
func (f *finder) bound() {
	for f.prefix = 256; f.prefix > 8; f.prefix /= 2 {
		states := 1
		for text := range f.ids {
			states += min(len(text), f.prefix)
		}
		if states <= maxFinderState {
			return
		}
	}
}

func (f *finder) build() {
	f.bound()
	f.columns = 1
	for text := range f.ids {
		for _, b := range []byte(text[:min(len(text), f.prefix)]) {
			if f.classes[b] == 0 {
				f.classes[b] = uint16(f.columns)
				f.columns++
			}
		}
	}
	newState := func() int32 {
		f.next = append(f.next, make([]int32, f.columns)...)
		f.entries = append(f.entries, nil)
		return int32(len(f.entries) - 1)
	}
	newState()
	for text := range f.ids {
		var state int32
		for _, b := range []byte(text[:min(len(text), f.prefix)]) {
			at := int(state)*f.columns + int(f.classes[b])
			if f.next[at] == 0 {
				child := newState() // may move f.next
				f.next[at] = child
			}
			state = f.next[at]
		}
		f.entries[state] = append(f.entries[state], text)
	}
	f.link()
}

// link turns the trie into a table without failure steps, breadth first, so that
// a state's suffix is complete before the state itself.
func (f *finder) link() {
	states := len(f.entries)
	f.accept = make([]int32, states)
	f.fallback = make([]int32, states)
	suffix := make([]int32, states)
	f.accept[0], f.fallback[0] = -1, -1
	queue := make([]int32, 0, states)
	for column := range f.columns {
		if child := f.next[column]; child != 0 {
			queue = append(queue, child)
		}
	}
	for head := 0; head < len(queue); head++ {
		state := queue[head]
		f.fallback[state] = f.accept[suffix[state]]
		f.accept[state] = f.fallback[state]
		if len(f.entries[state]) > 0 {
			f.accept[state] = state
		}
		row, suffixRow := int(state)*f.columns, int(suffix[state])*f.columns
		for column := range f.columns {
			child := f.next[row+column]
			if child == 0 {
				f.next[row+column] = f.next[suffixRow+column]
				continue
			}
			suffix[child] = f.next[suffixRow+column]
			queue = append(queue, child)
		}
	}
}
