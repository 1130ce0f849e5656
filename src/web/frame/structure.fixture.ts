/** The faults in the structure of a page; empty if there are none. */
export function structureFaults(page: string): string[] {
  const withoutData = page.replace(
    /(<script type="application\/ld\+json">)[^<]*(<\/script>)/g,
    '$1$2',
  )
  return [
    ...tagFaults(withoutData),
    ...idFaults(withoutData),
    ...headingFaults(withoutData),
    ...forbidden.flatMap(([name, pattern]) => (pattern.test(withoutData) ? [name] : [])),
  ]
}

const voids = new Set(['meta', 'link', 'img', 'br', 'hr', 'input'])
/** A tag as our templates write it: attributes have values in double quotes. */
const wellFormed = /^<(\/?)([a-z][a-z0-9]*)((?: [a-zA-Z][a-zA-Z0-9-]*="[^"<>]*")*)\/?>$/

const forbidden: readonly (readonly [string, RegExp])[] = [
  [
    'a script in the page',
    /<script(?! type="application\/ld\+json"><\/script>|(?: type="module")? src="\/[^"]*"><\/script>)/,
  ],
  ['a style attribute', /<[^>]* style="/],
  ['an event handler', /<[^>]* on[a-z]+="/],
  ['a value that is none', />\s*(undefined|null|NaN|\[object Object\])\b|="(undefined|null|NaN)"/],
  ['an empty heading', /<h[1-6][^>]*>\s*<\/h/],
]

function tagFaults(page: string): string[] {
  const open: string[] = []
  const body = page.replace(/^<!doctype html>\n/, '')
  for (const [tag] of body.matchAll(/<[^>]*>?/g)) {
    const [, slash, name = ''] = wellFormed.exec(tag) ?? []
    if (name === '') return [`a malformed tag: ${tag.slice(0, 80)}`]
    if (slash === '' && !voids.has(name)) open.push(name)
    if (slash === '/' && open.pop() !== name) return [`</${name}> closes nothing`]
  }
  return open.map((name) => `<${name}> stays open`)
}

function idFaults(page: string): string[] {
  const ids = [...page.matchAll(/ id="([^"]*)"/g)].map(([, id = '']) => id)
  const referred = [...page.matchAll(/ (?:aria-labelledby|href)="#?([^"]*)"/g)]
    .filter(([whole]) => whole.includes('"#') || whole.includes('labelledby'))
    .map(([, id = '']) => id)
  return [
    ...ids.filter((id, at) => ids.indexOf(id) !== at).map((id) => `the id ${id} twice`),
    ...referred.filter((id) => !ids.includes(id)).map((id) => `nothing has the id ${id}`),
  ]
}

/** A page must have exactly one h1, and no heading may skip a level. */
function headingFaults(page: string): string[] {
  const levels = [...page.matchAll(/<h([1-6])[ >]/g)].map(([, level]) => Number(level))
  const skips = levels.filter((level, at) => level > (levels[at - 1] ?? 0) + 1)
  const firsts = levels.filter((level) => level === 1).length
  return [
    ...skips.map((level) => `h${level} skips a level`),
    ...(firsts === 1 ? [] : [`${firsts} headings of the first level`]),
  ]
}
