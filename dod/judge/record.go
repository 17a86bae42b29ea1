package judge

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"
)

// maxBody bounds what a server may send for one question.
const maxBody = 4 << 20

var errTooLong = errors.New("the server sent too much")

// record is what came back over the wire for one sent question. It is kept beside
// the SDK, whose errors do not hold what arrived before a connection was cut.
type record struct {
	status int // 0: nothing came back
	header http.Header
	body   []byte
	err    error // why the body ended early
}

// whole says whether the body is exactly one JSON object: the SDKs read the first
// value, whatever it is, and ignore what follows.
func (r *record) whole() bool {
	return json.Valid(r.body) && bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("{"))
}

type recordKey struct{}

func withRecord(ctx context.Context, r *record) context.Context {
	return context.WithValue(ctx, recordKey{}, r)
}

// recorder is a transport that reads each answer whole, within maxBody and the
// request's time, into the record of its context.
type recorder struct{ next http.RoundTripper }

func (t recorder) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := t.next.RoundTrip(req)
	rec, _ := req.Context().Value(recordKey{}).(*record)
	if err != nil || rec == nil {
		return res, err
	}
	defer res.Body.Close()
	rec.status, rec.header = res.StatusCode, res.Header
	rec.body, rec.err = io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if len(rec.body) > maxBody {
		rec.body, rec.err = rec.body[:maxBody], errTooLong
	}
	if rec.err != nil {
		return nil, rec.err
	}
	res.Body = io.NopCloser(bytes.NewReader(rec.body))
	return res, nil
}

// newHTTPClient is the client of one judge. Redirects are not followed: they
// would carry question and key to a server that nobody named.
func newHTTPClient() *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.IdleConnTimeout = 30 * time.Second
	return &http.Client{
		Transport:     recorder{transport},
		CheckRedirect: func(*http.Request, []*http.Request) error { return errRedirect },
	}
}

// CloseIdleConnections lets http.Client reach the transport below.
func (t recorder) CloseIdleConnections() {
	if c, ok := t.next.(interface{ CloseIdleConnections() }); ok {
		c.CloseIdleConnections()
	}
}

var errRedirect = errors.New("the server redirects")
