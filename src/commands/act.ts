import { type ParseArgsConfig, parseArgs } from 'node:util'
import { closest, distance } from 'fastest-levenshtein'
import type { Common, Config, Outside, StoreConfig } from '../config.ts'
import { messageOf } from '../lib/errors.ts'
import type { Operator } from '../operator/operator.ts'

export interface Act {
  /** One line in the list of acts. */
  readonly summary: string
  /** The whole help, with examples. */
  readonly usage: string
  /**
   * @param args without the options that all acts have
   * @throws UsageError for arguments that are not its own
   */
  run(args: readonly string[], context: Context): Promise<Result>
}

/** Where a store is, and which one. */
export type Place = Pick<Common, 'site'> &
  Pick<Outside, 'databaseUrl' | 'network' | 'isRehearsal'> & { readonly mode: Config['mode'] }

export interface Context {
  readonly isDryRun: boolean
  /** For an act that writes its output itself. */
  readonly isJson: boolean
  /** The person who is on record for the act. */
  readonly by: string
  /** The settings of the store. @throws ConfigError */
  readonly config: () => Config
  /** To standard error, beside the result: how far the act has come. */
  readonly tell: (line: string) => void
  /** Tells which store an act works on that opens the database by itself; `withOperator` does so. */
  readonly tellStore: (store: Place) => void
  /**
   * Works on the store's database as its operator. In a dry run whatever `work` writes is rolled back, so an act has to
   * hold back only what leaves the database: mails, calls, files.
   *
   * @param setUp comes before the database is opened
   * @throws for a database that is away, of another store, or not set up by this version
   */
  withOperator<T>(
    work: (operator: Operator) => Promise<T>,
    setUp?: (config: StoreConfig) => Promise<void>,
  ): Promise<T>
}

export interface Result {
  /** 1: refused, or something differs. 2: a source is silent. */
  readonly exit: 0 | 1 | 2
  /** What `--json` prints, bigints as text; undefined if the act has written its output itself. */
  readonly data: unknown
  /** For people. */
  readonly lines: readonly string[]
}

/** The command line is not one of the act: exit code 2. */
export class UsageError extends Error {}

/** Node's `parseArgs`. @throws UsageError */
export function parseArguments<T extends ParseArgsConfig>(
  config: T,
): ReturnType<typeof parseArgs<T>> {
  try {
    return parseArgs(config)
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}

/** @param takes for each command its options, and `names` if it takes any @throws UsageError for anything else */
export function parseCommand<What extends string>(
  args: readonly string[],
  takes: Readonly<Record<What, readonly string[]>>,
) {
  const { values, positionals } = parseArguments({
    args: [...args],
    options: {
      reason: { type: 'string' },
      all: { type: 'boolean' },
      transfer: { type: 'string' },
      list: { type: 'string' },
      shrinks: { type: 'boolean' },
      until: { type: 'string' },
      'margin-bps': { type: 'string' },
      'fixed-usd': { type: 'string' },
      to: { type: 'string' },
    },
    allowPositionals: true,
  })
  const [what, ...names] = positionals
  if (what === undefined) throw new UsageError('Say what to do')
  const isKnown = (word: string): word is What => Object.hasOwn(takes, word)
  if (!isKnown(what)) throw new UsageError(unknownWord(what, Object.keys(takes)))
  const stray = Object.keys(values).find((option) => !takes[what].includes(option))
  if (stray !== undefined) throw new UsageError(`--${stray} is not for ${what}`)
  if (names.length > 0 && !takes[what].includes('names')) {
    throw new UsageError(`${what} takes nothing else, and got ${names.join(', ')}`)
  }
  return { ...values, what, names, reason: values.reason?.trim() }
}

/** A sentence without its full stop, which names the nearest word where one is near. */
export function unknownWord(word: string, known: readonly string[]): string {
  const nearest = closest(word, [...known])
  const isNear = distance(word, nearest) <= Math.max(1, Math.floor(nearest.length / 2))
  return `"${word}" is not known${isNear ? `; did you mean ${nearest}?` : `: ${known.join(', ')}`}`
}
