import { readConfig } from '../config.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { operatorName, runCommand } from './command-line.ts'
import { carryOut, commandOf, usage } from './denylist-work.ts'
import { openDatabaseFor } from './store-database.ts'

async function main(args: readonly string[]): Promise<0> {
  const command = commandOf(args)
  const database = await openDatabaseFor(readConfig(ownEnvironment(console.warn)), 'denylist')
  try {
    console.log((await carryOut({ database, by: operatorName() }, command)).join('\n'))
    return 0
  } finally {
    await database.end()
  }
}

await runCommand({ name: 'denylist', usage, main })
