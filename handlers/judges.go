package handlers

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/labstack/echo/v4"

	"donewhen/engine"
	"donewhen/models"
	"donewhen/views"
	"donewhen/views/ui"
)

// judgeReader is what the scorecard is counted from.
type judgeReader interface {
	JudgeStats(ctx context.Context, since time.Time, limit int) (models.JudgeStats, error)
	Judges(ctx context.Context) ([]models.Judge, error)
	Canaries(ctx context.Context, limit int) ([]models.Canary, error)
	Canary(ctx context.Context, id int64) (models.Canary, error)
}

const judgesMost = 10_000 // judgings that are counted, the newest

func (s *Server) judgeRoutes() []route {
	return []route{
		{Method: get, Path: views.JudgesPath, Role: viewer, Handler: s.showJudges},
		{Method: post, Path: views.PlantPath, Role: lead, Handler: s.givePlanted},
		{Method: post, Path: views.TrustPath, Role: lead, Handler: s.clearJudge},
		{Method: get, Path: "/canaries/:id", Role: viewer, Handler: s.showCanary},
	}
}

// GET /judges?days=
func (s *Server) showJudges(c echo.Context) error {
	return s.judgesPage(c, http.StatusOK, "", "", nil)
}

// judgesPage shows the page, with what a refused form of the judge `of` was told.
func (s *Server) judgesPage(c echo.Context, status int, of, typed string, refused *models.Error) error {
	v := views.JudgesView{Days: insightRanges[1], Longest: slices.Max(insightRanges), CanTry: s.user(c).Role.Can(lead)}
	if wanted := c.QueryParam("days"); wanted != "" {
		if days, err := strconv.Atoi(wanted); err == nil && slices.Contains(insightRanges, days) {
			v.Days = days
		} else {
			v.Message = "The range in the address is not one of those that are counted, so the last " + strconv.Itoa(v.Days) + " days are shown."
		}
	}
	for _, days := range insightRanges {
		v.Ranges = append(v.Ranges, views.InsightRange{Label: strconv.Itoa(days) + " days", Href: views.JudgesRangePath(days), Current: days == v.Days})
	}
	stats, err := s.Reader.JudgeStats(c.Request().Context(), s.Now().AddDate(0, 0, -v.Days), judgesMost)
	if err != nil {
		return err
	}
	v.CutAt = stats.CutAt
	if v.Planted, err = s.plantedCard(c); err != nil {
		return err
	}
	if wantsFragment(c) && refused == nil {
		return s.fragment(c, status, views.PlantedPart(v.Planted))
	}
	v.Refresh = views.JudgesRangePath(v.Days)
	marked := map[string]bool{}
	for i, j := range v.Planted.Judges {
		marked[j.Evaluator] = j.Distrusted != nil
		if refused != nil && j.Evaluator == of {
			v.Planted.Judges[i].Reason, v.Planted.Judges[i].Error = typed, refused.Fields["reason"]
		}
	}
	if refused != nil && refused.Fields["reason"] == "" {
		v.Message = refused.Message
	}
	for _, score := range engine.Scorecard(stats) {
		row := judgeRow(score)
		row.Marked = marked[row.Evaluator]
		v.Rows = append(v.Rows, row)
	}
	if v.Meta, err = s.meta(c, "Judges", views.NavInsight); err != nil {
		return err
	}
	return s.page(c, status, views.JudgesPage(v))
}

func judgeRow(j engine.JudgeScore) views.JudgeRow {
	row := views.JudgeRow{
		Evaluator: j.Evaluator, Verdicts: thousands(int64(j.Verdicts)), Met: share(j.Met, j.Verdicts), Invalid: share(j.Invalid, j.Replies),
		Errors: share(j.Errors, j.Judgings), Median: ui.Duration(j.Median), Tokens: dash(tokens(j.InputTokens, j.OutputTokens)), Cost: dash(cost(j.CostUSD)),
		Overruled: share(j.Overruled(), j.Verdicts), Flipped: "–",
		Caught: share(j.Caught, j.Caught+j.Missed), Missed: share(j.Missed, j.Caught+j.Missed),
	}
	switch {
	case j.PromptVersion > 0:
		row.Prompt = "prompt version " + strconv.Itoa(j.PromptVersion)
	case j.Replies > 0:
		row.Prompt = "prompt version not recorded"
	case j.Evaluator == "text":
		row.Prompt = "literal matching, asks nobody"
	}
	if j.Rejudged > 0 {
		row.Flipped = fmt.Sprintf("%d of %d", j.Flipped, j.Rejudged)
	}
	for _, h := range []struct {
		n    int
		what string
	}{{j.Accepted, "accepted though not met"}, {j.Rejected, "rejected though met"}, {j.SentBack, "sent back though met"}} {
		if h.n > 0 {
			row.How = append(row.How, fmt.Sprintf("%d %s", h.n, h.what))
		}
	}
	return row
}

// share is "3 (12 %)", or a dash where there is nothing to have a share of.
func share(n, of int) string {
	switch {
	case of == 0:
		return "–"
	case n == 0:
		return "0"
	}
	return fmt.Sprintf("%s (%d %%)", thousands(int64(n)), (100*n+of/2)/of)
}

func dash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}
