package handlers

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
)

// timedWriter notes when each event of a stream arrives.
type timedWriter struct {
	header http.Header
	mu     sync.Mutex
	events []timedEvent
	writes int
}

type timedEvent struct {
	at   time.Time
	data string
}

func (w *timedWriter) Header() http.Header { return w.header }
func (w *timedWriter) WriteHeader(int)     {}
func (w *timedWriter) Flush()              {}
func (w *timedWriter) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writes++
	for line := range strings.Lines(string(p)) {
		if data, ok := strings.CutPrefix(line, "data: "); ok {
			w.events = append(w.events, timedEvent{time.Now(), strings.TrimSpace(data)})
		}
	}
	return len(p), nil
}

// Fifty readers while twenty things a second change: what each is sent is
// bounded by time, not by the changes, and nobody waits long for the last one.
func TestChangesAreBoundedForFiftyReaders(t *testing.T) {
	const (
		readers   = 50
		perSecond = 20
		seconds   = 10
		// A part of a page rests 500 ms between two requests itself: with this
		// much of the stream's own, the last state is on the screen within 2 s.
		late = time.Second
	)
	synctest.Test(t, func(t *testing.T) {
		eng := engine.New(engine.Config{})
		defer eng.Close()
		s := &Server{Deps: Deps{Engine: eng}}
		ctx, stop := context.WithCancel(t.Context())
		writers := make([]*timedWriter, readers)
		var wg sync.WaitGroup
		for i := range writers {
			writers[i] = &timedWriter{header: http.Header{}}
			wg.Go(func() {
				time.Sleep(time.Duration(i) * 7 * time.Millisecond) // they do not come all at once
				r := httptest.NewRequestWithContext(ctx, http.MethodGet, "/events", nil)
				if err := s.streamEvents(echo.New().NewContext(r, writers[i])); err != nil {
					t.Error(err)
				}
			})
		}
		time.Sleep(time.Second)
		for n := range perSecond * seconds {
			eng.Hub().Publish("plan:busy", fmt.Sprintf("run:%d", n))
			time.Sleep(time.Second / perSecond)
		}
		eng.Hub().Publish("plan:last")
		last := time.Now()
		time.Sleep(5 * time.Second)
		stop()
		wg.Wait()

		most := int(time.Duration(seconds)*time.Second/streamRest) + 4 // how often it is heard, the first look, and both ends
		for i, w := range writers {
			if len(w.events) > most || w.writes > most {
				t.Errorf("reader %d got %d events in %d writes, want %d at most", i, len(w.events), w.writes, most)
			}
			if w.events[0].data != "20000" || w.events[1].data != "*" {
				t.Errorf("reader %d is told %+v and %+v first", i, w.events[0], w.events[1])
			}
			seen, all := time.Duration(-1), map[string]bool{}
			for _, e := range w.events {
				for _, topic := range strings.Fields(e.data) {
					all[topic] = true
					if topic == "plan:last" {
						seen = e.at.Sub(last)
					}
				}
			}
			if seen < 0 || seen > late {
				t.Errorf("reader %d saw the last change after %v", i, seen)
			}
			for n := range perSecond * seconds {
				if !all[fmt.Sprintf("run:%d", n)] {
					t.Errorf("reader %d never heard of change %d", i, n)
					break
				}
			}
		}
	})
}
