import { readFile, stat } from 'node:fs/promises'
import { basename, extname } from 'node:path'
import { SaxesParser } from 'saxes'
import { messageOf } from '../lib/errors.ts'
import { Refused } from './operator.ts'

/** A party as a list names it. */
export interface NamedParty {
  readonly text: string
  /** Where it stands: `SDN 25308`, `line 3`. */
  readonly entry: string
}

/** OFAC's sdn.xml, the largest of them, has 30 MB. */
const maxBytes = 100_000_000

/**
 * Reads a list of parties: the addresses of coins in OFAC's sdn.xml, those in its sdn.csv and sdn_comments.csv, or plain
 * text with one party a line and comments behind a `#`.
 *
 * @throws Refused for files that are cut off, and for others
 */
export async function readPartyList(files: readonly string[]) {
  const remarks = new Map<string, string>()
  const parties: NamedParty[] = []
  let name = 'sdn'
  for (const file of files) {
    if ((await stat(file)).size > maxBytes) throw new Refused(`${file} is too large for a list`)
    const text = await readFile(file, 'utf8')
    if (text.trimStart().startsWith('<')) parties.push(...sdnOfXml(file, text))
    else if (/^\d+,"/.test(text)) readRemarks(file, text, remarks)
    else {
      name = basename(file, extname(file))
      parties.push(...plainParties(file, text))
    }
  }
  return { name, parties: [...parties, ...[...remarks].flatMap(sdnOfRemarks)] }
}

/** @throws Refused if the last line does not end, save for the mark at which files of DOS end */
function linesOf(file: string, text: string): readonly string[] {
  const lines = text.split(/\r?\n/)
  if (lines.pop()?.replace('\u001a', '').trim() === '') return lines
  throw new Refused(`${file} is cut off: its last line does not end`)
}

function plainParties(file: string, text: string): readonly NamedParty[] {
  const parties = linesOf(file, text).map((line, index) => {
    return { text: line.replace(/(^|\s)#.*$/, '').trim(), entry: `line ${index + 1}` }
  })
  return parties.filter((one) => one.text !== '')
}

const field = `(?:"[^"]*(?:""[^"]*)*"|[^",]*)`

/** An entry's number, ten columns that sdn_comments.csv lacks, and remarks, whose quotation marks are not always doubled. */
const rowPattern = new RegExp(String.raw`^(\d+)((?:,${field}){10})?,(?:"(.*)"|-0-) *$`)

function readRemarks(file: string, text: string, remarks: Map<string, string>): void {
  for (const [index, line] of linesOf(file, text).entries()) {
    const [, entry = '', columns, more = ''] = rowPattern.exec(line) ?? []
    const before = columns === undefined ? remarks.get(entry) : ''
    if (before === undefined) {
      throw new Refused(
        `${file}, line ${index + 1} is no whole row of sdn.csv, nor goes on with one of a file named before`,
      )
    }
    remarks.set(entry, before + more)
  }
}

/** Remarks are cut after 1,000 characters, within a word, and go on in sdn_comments.csv. All of them end in a full stop. */
const cutRemarks = /^.{990,}[^.]$/

const kind = 'Digital Currency Address'
const addressPattern = new RegExp(String.raw`${kind} - \w+ ([^\s;.,]+)`, 'g')

function sdnOfRemarks([entry, remarks]: readonly [string, string]): readonly NamedParty[] {
  if (cutRemarks.test(remarks)) {
    throw new Refused(`The remarks of SDN ${entry} go on in sdn_comments.csv; name that file too`)
  }
  const addresses = [...remarks.matchAll(addressPattern)]
  return addresses.map(([, text = '']) => ({ text, entry: `SDN ${entry}` }))
}

/** Without a handler for them, the parser throws its errors, also for text that ends before its root does. */
function sdnOfXml(file: string, xml: string): readonly NamedParty[] {
  const parties: NamedParty[] = []
  const read = { text: '', entry: '', idType: '', entries: 0, stated: '' }
  const parser = new SaxesParser()
  parser.on('opentag', ({ name }) => {
    read.text = ''
    if (name === 'sdnEntry') Object.assign(read, { entry: '', entries: read.entries + 1 })
  })
  parser.on('text', (text) => {
    read.text += text
  })
  // The order of the elements is that of OFAC's schema: uid is the first of an entry, and idType comes before idNumber.
  parser.on('closetag', ({ name }) => {
    if (name === 'uid') read.entry ||= read.text
    if (name === 'Record_Count') read.stated = read.text
    if (name === 'idType') read.idType = read.text
    if (name === 'idNumber' && read.idType.startsWith(kind)) {
      parties.push({ text: read.text.trim(), entry: `SDN ${read.entry}` })
    }
  })
  try {
    parser.write(xml).close()
  } catch (error) {
    throw new Refused(`${file} is cut off or damaged: ${messageOf(error)}`)
  }
  const stated = read.stated || String(read.entries)
  if (read.entries > 0 && stated === String(read.entries)) return parties
  throw new Refused(
    `${file} is no whole sdn.xml: it has ${read.entries} entries, and says that it has ${stated}`,
  )
}
