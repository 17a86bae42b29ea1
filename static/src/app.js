// The pages' only script. Every page works without it; it makes pages live and
// forms patient. One module, one concern.
import './htmx.js'
import './morph.js'
import './forms.js'
import './typed.js'
import './live.js'
import './times.js'
import './copy.js'
import './dialog.js'
import './palette.js'
import './print.js'
import './log.js'
import './drafts.js'
import './focus.js'
import './grid.js'
import './diff-tree.js'
import './inbox-count.js'

document.documentElement.classList.add('js')
