import { readdirSync, readFileSync } from 'node:fs'

const styles = new URL('styles/', import.meta.url)
/** Everything else builds on it, whatever its own name. */
const first = 'base.css'

/** The one style sheet of the website: every sheet of `styles/`, the base of them first. */
export function styleSheet(): string {
  const others = readdirSync(styles).filter((name) => name !== first && name.endsWith('.css'))
  return [first, ...others.sort()].map((name) => read(new URL(name, styles))).join('\n')
}

/** A picture that stands beside this file. */
export function picture(name: string): string {
  return read(new URL(name, import.meta.url))
}

function read(file: URL): string {
  return readFileSync(file, 'utf8')
}
