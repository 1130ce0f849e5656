import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { Refused } from './operator.ts'
import { readPartyList } from './party-lists.ts'

const folder = mkdtempSync(join(tmpdir(), 'lists-'))
afterAll(() => rmSync(folder, { recursive: true }))

function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const btc = '12QtD5BFwRsdNsAZY76UVE1xyCGNTojH9h'
const eth = '0xd882cfc20f52f2599d84b8e8d58c7fb62cfe344b'

const entryOf = (uid: number, ids: string) => `
  <sdnEntry>
    <uid>${uid}</uid>
    <lastName>A &amp; B</lastName>
    <idList>
      <id><uid>1${uid}</uid><idType>Gender</idType><idNumber>Male</idNumber></id>
      ${ids}
      <id><uid>3${uid}</uid><idType>Passport</idType></id>
    </idList>
  </sdnEntry>`
const idOf = (coin: string, address: string) =>
  `<id><uid>2</uid><idType>Digital Currency Address - ${coin}</idType><idNumber>${address}</idNumber></id>`
const xmlOf = (count: number, entries: string) => `<?xml version="1.0" standalone="yes"?>
<sdnList xmlns="https://sanctionslistservice.ofac.treas.gov/api/PublicationPreview/exports/XML">
  <publshInformation><Publish_Date>03/02/2026</Publish_Date><Record_Count>${count}</Record_Count></publshInformation>${entries}
</sdnList>`
const xml = xmlOf(
  3,
  entryOf(7, idOf('XBT', btc) + idOf('ETH', eth)) + entryOf(8, '') + entryOf(9, idOf('XBT', btc)),
)

const listed = [
  { text: btc, entry: 'SDN 7' },
  { text: eth, entry: 'SDN 7' },
]

test('the addresses of coins in sdn.xml are read', async () => {
  expect(await readPartyList([file('sdn.xml', xml)])).toEqual({
    name: 'sdn',
    parties: [...listed, { text: btc, entry: 'SDN 9' }],
  })
})

const rowOf = (entry: number, remarks: string) =>
  `${entry},"BANK, ""A""",-0- ,"CUBA",-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,-0- ,${remarks}\r\n`
const remarksOf = (filler: string) =>
  `${filler}Digital Currency Address - XBT ${btc}; alt. Digital Currency Address - ETH ${eth}; Linked To: X.`
const csv = rowOf(6, '-0- ') + rowOf(7, `"${remarksOf('DOB 1977; ')}"`)
/** Remarks of 1,000 characters, which end within the second address. */
const long = remarksOf('x'.repeat(920))
const cut = csv.replace(remarksOf('DOB 1977; '), long.slice(0, 1_000))
const comments = `7,"${long.slice(1_000)} a.k.a. "khaleesi"."\r\n`

test('the addresses of coins in the remarks of sdn.csv are read, and where they go on', async () => {
  const whole = { name: 'sdn', parties: listed }
  expect(await readPartyList([file('sdn.csv', `${csv}\u001a`)])).toEqual(whole)
  const parts = [file('cut.csv', cut), file('sdn_comments.csv', comments)]
  expect(await readPartyList(parts)).toEqual(whole)
})

test('plain text has a party a line, and comments', async () => {
  const text = `\ufeff# partners\r\n${btc}\r\n\r\n  ada@example.com  # case 7\n`
  expect(await readPartyList([file('partners.txt', text)])).toEqual({
    name: 'partners',
    parties: [
      { text: btc, entry: 'line 2' },
      { text: 'ada@example.com', entry: 'line 4' },
    ],
  })
})

test.each([
  ['an sdn.xml without its end', [xml.slice(0, -20)], 'cut off or damaged'],
  ['an sdn.xml cut between two entries', [xml.slice(0, xml.indexOf('<sdnEntry>', 900))], 'cut off'],
  [
    'an sdn.xml that lacks an entry',
    [xmlOf(3, entryOf(7, ''))],
    '1 entries, and says that it has 3',
  ],
  ['a page', ['<html><body>Sign in</body></html>'], 'no whole sdn.xml'],
  ['an sdn.csv cut within a row', [csv.slice(0, -30)], 'its last line does not end'],
  ['an sdn.csv cut within its number', [`${csv}8`], 'its last line does not end'],
  ['an sdn.csv with a row of another file', [`${csv}8,"X"\r\n`], 'line 3 is no whole row'],
  ['an sdn.csv without where its remarks go on', [cut], 'name that file too'],
  ['sdn_comments.csv alone', [comments], 'nor goes on with one of a file named before'],
  ['a list cut within a line', [`${btc}\n+120255501`], 'its last line does not end'],
  ['a line of megabytes', ['1'.repeat(900_000)], 'its last line does not end'],
])('%s is refused', async (_, texts, message) => {
  const files = texts.map((text, index) => file(`${index}.list`, text))
  const read = readPartyList(files)
  await expect(read).rejects.toThrow(Refused)
  await expect(read).rejects.toThrow(message)
})

test('a file of a gigabyte is refused before it is read', async () => {
  const path = file('large.txt', '')
  truncateSync(path, 1_000_000_000)
  await expect(readPartyList([path])).rejects.toThrow('too large')
})

test('a file that is not there is named', async () => {
  await expect(readPartyList([join(folder, 'none')])).rejects.toThrow(/ENOENT.*none/)
})
