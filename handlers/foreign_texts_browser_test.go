package handlers

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"donewhen/dod"
	"donewhen/engine"
	"donewhen/internal/browsertest"
	"donewhen/models"
)

// tongue is a way of writing that a page has to hold.
type tongue struct {
	name, title, goal, phase, agent, file, line, criterion, reason, argument, judge string
}

// tongues are texts without a place to break, and texts of other scripts: from
// right to left, without blanks, with signs of several code points.
var tongues = []tongue{
	{
		name:      "long",
		title:     "Rechnungsausfuhr" + strings.Repeat("unverwechselbarerlangesWort", 6),
		goal:      strings.Repeat("ohneLeerstelle", 40),
		phase:     "Ueberfuehrung" + strings.Repeat("desHauptbuchs", 9),
		agent:     strings.Repeat("gewissenhafterHandwerker", 3),
		file:      strings.Repeat("tiefes-verzeichnis/", 9) + strings.Repeat("langerdateiname", 8) + ".txt",
		line:      "https://example.org/" + strings.Repeat("einSehrLangerPfad/", 30) + "?q=" + strings.Repeat("0123456789abcdef", 20),
		criterion: strings.Repeat("AlleRechnungenStehenImNeuenHauptbuch", 7),
		reason:    "Fehlt:" + strings.Repeat("RechnungNummer0815", 25),
		judge:     strings.Repeat("gewissenhafterRichter-", 4) + "20260301",
		argument:  "name_of_a_placeholder_that_somebody_made_rather_long_indeed",
	},
	{
		name:      "foreign",
		title:     "نقل تصدير الفواتير إلى دفتر الأستاذ الجديد (v2.4) 🧾👩🏽‍💻",
		goal:      "يكتب التصدير كل فاتورة مرة واحدة فقط.\n发票导出写入新的总账,每张发票只写一次。\nZ̴̡͇a̷̗͐l̸͇̐g̵̪͝o and Việt Nam, ﬁ ligatures, 🏴󠁧󠁢󠁳󠁣󠁴󠁿 🇺🇦.",
		phase:     "اكتب الملاحظات: README",
		agent:     "مساعد-١",
		file:      "说明/ملاحظات (١).txt",
		line:      "\u05d0\u05d1\u05d2 شكرا 123 — 总账里的每一张发票都已经写好了没有一张写了两次每一张都可以在总账里找到而且数目是对的 🧪 e\u0301e\u0301",
		criterion: "كل فاتورة موجودة في الدفتر، every one",
		reason:    "الفاتورة 0815 مفقودة. 第 0815 号发票不在总账里。",
		judge:     "careful",
		argument:  "branch",
	},
}

// Every page that shows what people and agents wrote holds these texts: nothing
// is wider than the screen, and what is read from the right stands there.
func TestForeignTextsInABrowser(t *testing.T) {
	for _, in := range tongues {
		t.Run(in.name, func(t *testing.T) {
			w := newWorks(t, voice{"openai:" + in.judge, func(dod.Question) (string, error) {
				return fmt.Sprintf(`{"met":false,"reason":%q}`, in.reason), nil
			}})
			a := w.album(t)
			a.known = true
			work := sh(in.phase, fmt.Sprintf(`mkdir -p "$(dirname %[1]q)"; for i in 1 2 3; do echo "%[2]s $i $DONEWHEN_PASS" >> %[1]q; done; cat %[1]q`, in.file, in.line))
			work.Task, work.DoneWhen, work.MaxIterations = in.goal+"\n\n"+in.line, "- "+in.criterion+" -> judge\n- "+in.criterion+" -> file: "+in.file, 2
			work.Agents[0].Name = in.agent
			after := sh(in.phase+" 2", "true")
			after.NeedsApproval = true
			id := w.done(engine.NewPlan{Title: in.title, Goal: in.goal, Dod: "- " + in.criterion + " -> match: /" + in.criterion + "/\n- (must) " + in.criterion + " -> human: lead", Phases: []engine.NewPhase{work, after}})
			first := w.detail(id).Phases[0]
			if first.Phase.Status != models.PhaseExhausted || len(first.Passes) != 2 {
				t.Fatalf("the phase is %s after %d passes: %s", first.Phase.Status, len(first.Passes), first.Phase.Reason)
			}
			a.page("texts-"+in.name+"-plan", "/plans/"+id, `[data-phase="exhausted"]`)
			// A title is read from its own side, and stands where all titles stand.
			if got := browsertest.Get(a.b, chromedp.Evaluate[string](`(({unicodeBidi, textAlign}) => unicodeBidi + " " + textAlign)(getComputedStyle(document.querySelector("h1")))`)); got != "plaintext left" {
				t.Errorf("the title is set %s", got)
			}
			a.b.Do(chromedp.Evaluate[chromedp.Void](`document.querySelectorAll("main details").forEach(d => d.open = true)`))
			a.look("texts-" + in.name + "-plan-unfolded")
			a.page("texts-"+in.name+"-inbox", "/", "#waiting")
			a.b.Do(chromedp.KeyEvent("k", chromedp.KeyModifiers(chromedp.ModifierCtrl)))
			until(t, a.b, `document.activeElement.id === "palette-input" && !!document.querySelector("#palette-plans [role=option]")`)
			a.look("texts-" + in.name + "-palette")
			if err := w.eng.AcceptPhase(t.Context(), w.lead(), first.Phase.ID, first.Passes[1].Pass.ID, in.reason); err != nil {
				t.Fatal(err)
			}
			w.settle()
			d := w.detail(id)
			if err := w.eng.ApprovePhase(t.Context(), w.lead(), d.Phases[1].Phase.ID, d.Phases[1].Passes[0].Pass.ID, in.goal); err != nil {
				t.Fatal(err)
			}
			w.settle()
			w.create(engine.NewPlan{Title: in.title, Goal: in.goal, Phases: []engine.NewPhase{work}})
			clone := filepath.Join(w.dir, in.file)
			w.git(t, "clone", "-q", w.repo, clone)
			if _, err := w.eng.AddProject(t.Context(), engine.ActorOf(w.people[models.RoleAdmin]), in.phase[:min(len(in.phase), 100)], clone, "", true); err != nil {
				t.Fatal(err)
			}
			pass := w.detail(id).Phases[0].Passes[1]
			for _, p := range []struct{ name, path, selector string }{
				{"plan-closed", "/plans/" + id, `[data-reason="required_failed"]`},
				{"pass", fmt.Sprintf("/passes/%d", pass.Pass.ID), "#task"},
				{"verdict", fmt.Sprintf("/verdicts/%d", pass.Verdict.ID), "#verdict"},
				{"evaluation", fmt.Sprintf("/evaluations/%d", w.detail(id).Evaluation.ID), "h1"},
				{"run", fmt.Sprintf("/runs/%d", pass.Runs[0].ID), "#L1"},
				{"diff", "/plans/" + id + "/diff", "tr[data-context], [data-file]"},
				{"activity", "/plans/" + id + "/activity", "ol"},
				{"dod", "/plans/" + id + "/dod", "#field-dod"},
				{"plans", "/plans?q=" + url.QueryEscape(in.reason[:12]), "#plans"},
				{"audit", "/audit", "table"},
				{"copy", "/plans/new?from=" + id, "main form"},
				{"projects", "/projects", "main table"},
				{"insight", "/insight", "main"},
				{"judges", "/judges", "#scorecard"},
				{"replay", fmt.Sprintf("/replay?phase=%d", first.Phase.ID), "main form"},
			} {
				a.page("texts-"+in.name+"-"+p.name, p.path, p.selector)
			}
			draft := engine.TemplateDraft{Name: in.phase[:min(len(in.phase), 100)], Description: in.goal, Text: "- " + in.criterion + " {" + in.argument + "} -> file: {" + in.argument + "}", Args: []models.TemplateArg{{Name: in.argument, Description: in.reason, Default: in.file, Required: true}}}
			v, err := w.eng.PublishTemplate(t.Context(), w.lead(), draft)
			if err != nil {
				t.Fatal(err)
			}
			draft.TemplateID, draft.Base, draft.Text, draft.Why = v.TemplateID, v.Version, draft.Text+"\n- "+in.criterion, in.reason
			if _, err := w.eng.PublishTemplate(t.Context(), w.lead(), draft); err != nil {
				t.Fatal(err)
			}
			a.page("texts-"+in.name+"-templates", "/templates", "main table, main ul")
			a.page("texts-"+in.name+"-template", fmt.Sprintf("/templates/%d", v.TemplateID), "#template-text")
			a.page("texts-"+in.name+"-template-edit", fmt.Sprintf("/templates/%d/edit", v.TemplateID), "#template-preview")
		})
	}
}
