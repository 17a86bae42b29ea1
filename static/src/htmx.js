// htmx, configured by the <meta name="htmx-config"> of views/layout.templ.
import htmx from 'htmx.org'

export default htmx
