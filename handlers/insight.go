package handlers

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
)

// insightReader is what the numbers are counted from.
type insightReader interface {
	PassStats(ctx context.Context, since time.Time, limit int) (models.PassStats, error)
	RunStats(ctx context.Context, since time.Time, limit int) (models.RunStats, error)
	NotMetVerdicts(ctx context.Context, since time.Time, limit int) (models.NotMetVerdicts, error)
	PlanTitles(ctx context.Context, ids []string) (map[string]string, error)
	Plans(ctx context.Context, f models.PlanFilter) (rows []models.PlanRow, next string, err error)
}

const (
	insightPasses   = 20_000      // that are counted, the newest; they cost least
	insightRuns     = 10_000      // likewise
	insightVerdicts = 2_000       // whose results are read, likewise
	insightFresh    = time.Minute // how long numbers are shown again without counting
	insightCriteria = 15
	insightPlansOf  = 3 // plans that are named beside a criterion
)

// insightRanges are the ranges that can be chosen, in days; the second is the
// one that is shown unless another is.
var insightRanges = []int{7, 30, 90}

// insight answers with the page and keeps what it counted for a moment: one
// reader's look costs the same as that of fifty.
type insight struct {
	*Server
	mu   sync.Mutex
	kept map[int]counted // by days
}

// counted is what a page is made of.
type counted struct {
	at       time.Time
	passes   models.PassStats
	runs     models.RunStats
	criteria []engine.CriterionFailures // the first ones
	failing  int                        // how many there are
	cutAt    *time.Time                 // of the verdicts
	titles   map[string]string          // of the plans beside the criteria
}

func (s *Server) insightRoutes() []route {
	in := &insight{Server: s, kept: map[int]counted{}}
	return []route{{Method: get, Path: views.InsightPath, Role: viewer, Handler: in.show}}
}

// GET /insight?days=
func (in *insight) show(c echo.Context) error {
	v := views.InsightView{Days: insightRanges[1], Longest: slices.Max(insightRanges), CanNew: in.user(c).Role.Can(lead)}
	if wanted := c.QueryParam("days"); wanted != "" {
		if days, err := strconv.Atoi(wanted); err == nil && slices.Contains(insightRanges, days) {
			v.Days = days
		} else {
			v.Message = "The range in the address is not one of those that are counted, so the last " + strconv.Itoa(v.Days) + " days are shown."
		}
	}
	for _, days := range insightRanges {
		v.Ranges = append(v.Ranges, views.InsightRange{Label: strconv.Itoa(days) + " days", Href: views.InsightRangePath(days), Current: days == v.Days})
	}
	ctx := c.Request().Context()
	n, err := in.count(ctx, v.Days)
	if err != nil {
		return err
	}
	fillInsight(&v, n)
	if len(v.Figures) == 0 {
		any, _, err := in.Reader.Plans(ctx, models.PlanFilter{Limit: 1})
		if err != nil {
			return err
		}
		v.Fresh = len(any) == 0
	}
	if v.Meta, err = in.meta(c, "Insight", views.NavInsight); err != nil {
		return err
	}
	return in.page(c, 200, views.InsightPage(v))
}

// count counts a range, or returns what was counted a moment ago. Who comes
// while it is being counted waits for it.
func (in *insight) count(ctx context.Context, days int) (counted, error) {
	in.mu.Lock()
	defer in.mu.Unlock()
	now := in.Now()
	if n, ok := in.kept[days]; ok && now.Sub(n.at) < insightFresh && !now.Before(n.at) {
		return n, nil
	}
	n, err := in.countNow(ctx, now, now.AddDate(0, 0, -days))
	if err == nil {
		in.kept[days] = n
	}
	return n, err
}

func (in *insight) countNow(ctx context.Context, now, since time.Time) (counted, error) {
	n := counted{at: now}
	var (
		all                       sync.WaitGroup
		passErr, runErr, criteria error
	)
	all.Go(func() { n.passes, passErr = in.Reader.PassStats(ctx, since, insightPasses) })
	all.Go(func() { n.runs, runErr = in.Reader.RunStats(ctx, since, insightRuns) })
	all.Go(func() {
		var v models.NotMetVerdicts
		if v, criteria = in.Reader.NotMetVerdicts(ctx, since, insightVerdicts); criteria != nil {
			return
		}
		failing := engine.FailingCriteria(v.Verdicts)
		n.failing, n.cutAt, n.criteria = len(failing), v.CutAt, slices.Clip(failing[:min(len(failing), insightCriteria)])
		var plans []string
		for _, f := range n.criteria {
			plans = append(plans, f.Plans[:min(len(f.Plans), insightPlansOf)]...)
		}
		n.titles, criteria = in.Reader.PlanTitles(ctx, plans)
	})
	all.Wait()
	return n, errors.Join(passErr, runErr, criteria)
}
