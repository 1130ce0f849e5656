import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { builtNames, builtScript } from '../src/web/frame/built-script.ts'

/*
 * `npm run release [FOLDER]`: the store as it was committed, with what live mode runs and nothing else, as
 * dist/kiosk402-VERSION.tgz, with the list of its packages (CycloneDX) and its digest. Needs the registry of npm, git
 * and GNU tar.
 */

const shipped = [
  'src',
  'scripts/run',
  'scripts/kiosk402',
  'deploy',
  'doctor',
  'docs',
  'openapi.json',
]
const named = ['package.json', 'package-lock.json', '.npmrc', 'README.md', 'CHANGELOG.md']
const legal = ['LICENSE', 'NOTICE']
/** No program reads them: half of the size. */
const unread = ['*.map', '*.d.ts', '*.d.cts', '*.d.mts']
const production = ['--omit=dev', '--omit=optional']

const folder = resolve(process.argv[2] ?? 'dist')
const git = (...args: string[]) => execFileSync('git', args, { encoding: 'utf8' }).trim()
const { version } = JSON.parse(git('show', 'HEAD:package.json'))
const name = `kiosk402-${version}`
const place = mkdtempSync(join(tmpdir(), 'kiosk402-release-'))
const stage = join(place, name)

try {
  for (const script of builtNames) builtScript(script)
  mkdirSync(stage)
  mkdirSync(folder, { recursive: true })
  const archive = join(place, 'committed.tar')
  const without = [':(exclude,glob)**/*.test.ts', ':(exclude,glob)**/*.fixture.ts']
  const paths = [...shipped, ...named, ...legal, ...without, ':(exclude)deploy/rehearsal']
  git('archive', '--format=tar', `--output=${archive}`, 'HEAD', '--', ...paths)
  execFileSync('tar', ['--extract', '--file', archive, '--directory', stage])
  for (const file of [...builtNames, 'phone-operators.json']) {
    cpSync(join('build', file), join(stage, 'build', file))
  }
  const npm = (...args: string[]) =>
    execFileSync('npm', args, {
      cwd: stage,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'inherit'],
    })
  npm('ci', ...production, '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline')
  // With --omit, `npm sbom` leaves out packages that development needs too; without it, it misses what is not installed.
  npm('pkg', 'delete', 'devDependencies')
  const parts = npm('sbom', '--sbom-format=cyclonedx', '--sbom-type=application')
  execFileSync('tar', ['--extract', '--file', archive, '--directory', stage, 'package.json'])
  for (const where of [join(stage, 'sbom.cdx.json'), join(folder, `${name}.cdx.json`)]) {
    writeFileSync(where, parts)
  }
  for (const file of globSync(
    unread.map((ending) => `**/${ending}`),
    { cwd: join(stage, 'node_modules') },
  )) {
    rmSync(join(stage, 'node_modules', file))
  }
  pack()
} finally {
  rmSync(place, { recursive: true })
}

/** Owners, order and times do not depend on who makes it. */
function pack(): void {
  const file = join(folder, `${name}.tgz`)
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner', '--mode=go+rX,go-w']
  const at = `--mtime=@${git('log', '-1', '--format=%ct')}`
  execFileSync('tar', [
    '--create',
    '--gzip',
    '--file',
    file,
    '--directory',
    place,
    ...same,
    at,
    name,
  ])
  const digest = createHash('sha256').update(readFileSync(file)).digest('hex')
  writeFileSync(`${file}.sha256`, `${digest}  ${name}.tgz\n`)
  console.log(`${file}\n${digest}`)
}
