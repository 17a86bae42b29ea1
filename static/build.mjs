// Builds static/dist from static/src: Tailwind's style sheet, esbuild's
// scripts and the icon sprite, each under a name with its content's hash, and
// manifest.json, which maps plain to hashed names. Run by ./task; alone:
//   npm ci && node static/build.mjs
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const src = join(root, 'static/src')
const dist = join(root, 'static/dist')
const require = createRequire(import.meta.url)

// Work outside dist: the Go compiler may be reading it at this moment.
mkdirSync(join(root, '.task'), { recursive: true })
const work = mkdtempSync(join(root, '.task/assets-'))

try {
  const files = { ...styles(), ...await scripts(), 'icons.svg': icons(), 'favicon.svg': readFileSync(join(src, 'favicon.svg')) }
  const manifest = {}
  for (const name of Object.keys(files).sort()) {
    const hash = createHash('sha256').update(files[name]).digest('hex').slice(0, 12)
    const ext = extname(name)
    manifest[name] = `${name.slice(0, -ext.length)}-${hash}${ext}`
    put(manifest[name], files[name])
  }
  put('manifest.json', JSON.stringify(manifest, null, 2) + '\n')

  const keep = new Set(['.gitkeep', 'manifest.json', ...Object.values(manifest)])
  for (const old of readdirSync(dist)) if (!keep.has(old)) rmSync(join(dist, old), { recursive: true })
} finally {
  rmSync(work, { recursive: true })
}

// put writes a file of dist whole or not at all.
function put (name, body) {
  writeFileSync(join(work, name), body)
  renameSync(join(work, name), join(dist, name))
}

function styles () {
  const out = join(work, 'app.css')
  const cli = join(dirname(require.resolve('@tailwindcss/cli/package.json')), 'dist/index.mjs')
  // Its progress lines go to stderr; on a failure they are part of the error thrown.
  execFileSync(process.execPath, [cli, '--input', join(src, 'app.css'), '--output', out, '--minify'],
    { cwd: root, stdio: ['ignore', 'ignore', 'pipe'] })
  return { 'app.css': readFileSync(out) }
}

// scripts bundles the entry points; every other module is imported by one of them.
async function scripts () {
  const result = await build({
    entryPoints: ['app.js', 'live-worker.js'].map(name => join(src, name)),
    outdir: work,
    bundle: true,
    minify: true,
    format: 'iife',
    target: 'es2022',
    legalComments: 'none',
    write: false,
    logLevel: 'warning'
  })
  return Object.fromEntries(result.outputFiles.map(f => [f.path.slice(work.length + 1), Buffer.from(f.contents)]))
}

// icons makes one SVG of the Lucide icons named in icons.txt, used as
// <svg><use href="icons.svg#name"/></svg>.
function icons () {
  const from = join(dirname(require.resolve('lucide-static/package.json')), 'icons')
  const names = readFileSync(join(src, 'icons.txt'), 'utf8').split('\n').map(l => l.trim()).filter(l => l && !l.startsWith('#'))
  const symbols = names.map(name => {
    const svg = readFileSync(join(from, name + '.svg'), 'utf8')
    const inner = svg.slice(svg.indexOf('>', svg.indexOf('<svg')) + 1, svg.lastIndexOf('</svg>'))
    return `<symbol id="${name}" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round">${inner.replace(/\s*\n\s*/g, '')}</symbol>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg">${symbols.join('')}</svg>\n`
}
