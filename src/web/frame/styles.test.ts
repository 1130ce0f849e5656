import { globSync, readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { sharedSheets } from './assets.ts'

const folder = new URL('styles/', import.meta.url)
const paper = 'print.css'

/** The single selectors of a sheet. */
function selectorsIn(sheet: string): string[] {
  const css = readFileSync(new URL(sheet, folder), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '')
  return [...css.matchAll(/([^{};]+)\{/g)]
    .map(([, selector = '']) => selector.trim())
    .filter((selector) => !/^(@|to$|from$)/.test(selector))
    .flatMap((selector) => selector.split(/,(?![^(]*\))/))
    .map((selector) => selector.trim())
}

const sheets = readdirSync(folder).filter((name) => name !== paper)
const classPattern = /\.(-?[a-z][\w-]*)/gi
const classesIn = (text: string) => [...text.matchAll(classPattern)].map(([, name = '']) => name)

/** The beginning of a selector, which shows what it belongs to. */
const beginOf = (selector: string) => selector.split(/[\s>+~]/)[0] ?? ''

const sources = globSync('src/web/**/*.{ts,js}')
  .filter((file) => !/\.(test|fixture)\.ts$/.test(file))
  .map((file) => ({ file, text: readFileSync(file, 'utf8') }))

test('each sheet has classes of its own, so that no page changes the look of another', () => {
  const owners = new Map<string, Set<string>>()
  for (const sheet of sheets) {
    for (const name of selectorsIn(sheet).flatMap((one) => classesIn(beginOf(one)))) {
      owners.set(name, (owners.get(name) ?? new Set()).add(sheet))
    }
  }
  const shared = [...owners].filter(([, by]) => by.size > 1)
  expect(shared.map(([name, by]) => `${name}: ${[...by].join(', ')}`)).toEqual([])
})

test('only what every page has says how an element looks wherever it stands', () => {
  const own = sheets.filter((sheet) => !sharedSheets.includes(sheet))
  const loose = own.flatMap((sheet) =>
    selectorsIn(sheet)
      .filter((selector) => classesIn(beginOf(selector)).length === 0)
      .map((selector) => `${sheet}: ${selector}`),
  )
  expect(loose).toEqual([])
})

test('every class in the sheets stands in a page', () => {
  const all = sources.map(({ text }) => text).join('\n')
  // Literal, or a word in quotes. Cards have numbered classes, such as "hue-3".
  const written = [...all.matchAll(/class="([^"]*)"|['"`]([\w -]+(?:\$|['"`]))/g)]
  const used = new Set(
    written.flatMap(([, list = '', word = '']) => `${list} ${word}`.split(/[^\w-]+/)),
  )
  const isUsed = (name: string) => used.has(name) || all.includes(`${name.replace(/\d+$/, '')}\${`)
  const names = new Set(sheets.flatMap((sheet) => selectorsIn(sheet).flatMap(classesIn)))
  expect([...names].filter((name) => !isUsed(name))).toEqual([])
})

test('pages get every word from the texts', () => {
  const pages = sources.filter(({ file }) => !/\/(texts|for-models|scripts)\//.test(file))
  const said = pages.flatMap(({ file, text }) =>
    [...text.matchAll(/<[a-z]\w*(?: [^<>]*)?>([^<>`$={}()/\n]*[a-z]{3}[^<>`$={}()/\n]*)</gi)].map(
      ([, words = '']) => `${file}: ${words.trim()}`,
    ),
  )
  expect(said).toEqual([])
})
