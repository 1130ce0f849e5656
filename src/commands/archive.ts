import type { Pool } from 'pg'
import { createArchive } from '../adapters/storage/archive.ts'
import { type Config, readConfig } from '../config.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { createVault } from '../secrets/vault.ts'
import { type ArchiveCommand, commandOf, monthsAgo, usage } from './archive-arguments.ts'
import { readArchived, withGoods } from './archive-files.ts'
import { archiveOrders } from './archive-work.ts'
import { runCommand } from './command-line.ts'
import { openDatabaseFor, secretsKeysOf } from './store-database.ts'

async function main(args: readonly string[]): Promise<0> {
  const command = commandOf(args, new Date())
  const config = readConfig(ownEnvironment(console.warn))
  const database = await openDatabaseFor(config, 'archive')
  try {
    const said = await carryOut(database, config, command)
    console.log(said)
    return 0
  } finally {
    await database.end()
  }
}

function carryOut(database: Pool, config: Config, command: ArchiveCommand) {
  return command.type === 'move' ? move(database, config, command) : show(database, config, command)
}

type Wanted<T extends ArchiveCommand['type']> = Extract<ArchiveCommand, { type: T }>

async function move(
  database: Pool,
  { archiveAfterMonths }: Config,
  { dir, before }: Wanted<'move'>,
): Promise<string> {
  const endedBefore = before ?? monthsAgo(archiveAfterMonths, new Date())
  const archive = createArchive(database)
  const moved = await archiveOrders({ archive, dir, endedBefore, tell: console.log })
  const left = await archive.left(endedBefore)
  const until = endedBefore.toISOString().slice(0, 10)
  const said = `${moved} orders and checkouts moved that ended before ${until}.`
  return left === 0 ? said : `${said}\n${left} that ended before then stay: ${whyTheyStay}.`
}

const whyTheyStay =
  'money is owed, personal fields (PERSONAL_DATA_DAYS), a key or a claim are kept, or a checkout in a coin is not at rest'

async function show(database: Pool, config: Config, wanted: Wanted<'show'>): Promise<string> {
  const read = await readArchived(createArchive(database), wanted.dir, wanted.order)
  const shown = wanted.withGoods ? withGoods(createVault(await secretsKeysOf(config)), read) : read
  return JSON.stringify(shown, null, 2)
}

await runCommand({ name: 'archive', usage, main })
