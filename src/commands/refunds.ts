import { readConfig } from '../config.ts'
import { ownEnvironment } from '../environment/secret-files.ts'
import { operatorName, runCommand } from './command-line.ts'
import { commandOf, usage } from './refunds-arguments.ts'
import { carryOut } from './refunds-work.ts'
import { openDatabaseFor } from './store-database.ts'

async function main(args: readonly string[]): Promise<0 | 1> {
  const command = commandOf(args)
  const config = readConfig(ownEnvironment(console.warn))
  const database = await openDatabaseFor(config, 'refunds')
  try {
    const operator = { database, caps: config.refundCaps, by: operatorName() }
    const { isDone, lines } = await carryOut(operator, command)
    console.log(lines.join('\n'))
    return isDone ? 0 : 1
  } finally {
    await database.end()
  }
}

await runCommand({ name: 'refunds', usage, main })
