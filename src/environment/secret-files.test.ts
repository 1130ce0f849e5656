import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { ConfigError, secretVariables } from './environment.ts'
import { envFilesIn, ownEnvironment, withSecretFiles } from './secret-files.ts'

let folder: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kiosk402-secrets-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

function fileWith(content: string, mode = 0o600): string {
  const file = join(folder, 'secret')
  writeFileSync(file, content)
  chmodSync(file, mode)
  return file
}

/** The environment that comes out, and the warnings. */
function read(environment: Record<string, string>) {
  const warnings: string[] = []
  return { given: withSecretFiles(environment, (line) => warnings.push(line)), warnings }
}

function problemOf(environment: Record<string, string>): string {
  try {
    read(environment)
  } catch (error) {
    if (error instanceof ConfigError) return error.message
    throw error
  }
  return 'none'
}

describe.each(secretVariables)('%s_FILE', (name) => {
  test('gives the value, and is gone then', () => {
    const file = fileWith('the value\n')
    expect(read({ [`${name}_FILE`]: file, PORT: '1' })).toEqual({
      given: { [name]: 'the value', PORT: '1' },
      warnings: [],
    })
  })

  test('beside the variable itself is refused, without either value', () => {
    const problem = problemOf({ [name]: 'by value', [`${name}_FILE`]: fileWith('by file') })
    expect(problem).toContain(`${name} and ${name}_FILE are both set`)
    expect(problem).not.toMatch(/by (value|file)/)
  })
})

test.each([
  ['one newline', 'a b \n', 'a b '],
  ['one of Windows', 'a\r\n', 'a'],
  ['only the last one', 'a\n\n', 'a\n'],
  ['nothing else', ' a', ' a'],
])('of the end of a file, it leaves out %s', (_, content, value) => {
  expect(read({ GAS_KEY_FILE: fileWith(content) }).given).toEqual({ GAS_KEY: value })
})

test('a file that gives no value is a problem that names variable and file', () => {
  const missing = join(folder, 'missing')
  expect(problemOf({ GAS_KEY_FILE: missing })).toContain(
    `GAS_KEY_FILE names ${missing}, which cannot be read: ENOENT`,
  )
  const empty = fileWith('\n')
  expect(problemOf({ GAS_KEY_FILE: empty })).toContain(
    `GAS_KEY_FILE names ${empty}, which is empty`,
  )
  expect(problemOf({ GAS_KEY_FILE: folder })).toContain(
    `GAS_KEY_FILE names ${folder}, which cannot be read: EISDIR`,
  )
})

test('all problems are told at once', () => {
  const problem = problemOf({ GAS_KEY_FILE: folder, REFUND_KEY_FILE: folder })
  expect(problem).toMatch(/GAS_KEY_FILE.*\n.*REFUND_KEY_FILE/)
})

test.skipIf(process.getuid?.() === 0)('a file that this account may not read is a problem', () => {
  const file = fileWith('a', 0o000)
  expect(problemOf({ GAS_KEY_FILE: file })).toContain('EACCES')
})

test('one that is set to nothing is not set', () => {
  expect(read({ GAS_KEY: 'a', GAS_KEY_FILE: '' })).toEqual({
    given: { GAS_KEY: 'a' },
    warnings: [],
  })
  expect(read({ GAS_KEY: '', GAS_KEY_FILE: fileWith('b') }).given).toEqual({ GAS_KEY: 'b' })
})

describe('a file that other accounts can read', () => {
  test.each([0o640, 0o604, 0o644])('by its mode %o is named with what closes it', (mode) => {
    const file = fileWith('a', mode)
    expect(read({ GAS_KEY_FILE: file }).warnings).toEqual([
      `${file} can be read by other accounts of this machine; close it: chmod 600 '${file}'`,
    ])
  })

  test.each([0o600, 0o400, 0o711])('not by its mode %o is passed over', (mode) => {
    expect(read({ GAS_KEY_FILE: fileWith('a', mode) }).warnings).toEqual([])
  })

  test('in the closed folder of systemd is passed over, and beside it is not', () => {
    const file = fileWith('a', 0o440)
    expect(read({ GAS_KEY_FILE: file, CREDENTIALS_DIRECTORY: folder }).warnings).toEqual([])
    const beside = join(folder, 'sec')
    mkdirSync(beside)
    expect(read({ GAS_KEY_FILE: file, CREDENTIALS_DIRECTORY: beside }).warnings).toHaveLength(1)
  })
})

test('what a process starts inherits no secret, however that came', () => {
  process.env['METRICS_TOKEN'] = 'by value'
  process.env['GAS_KEY_FILE'] = fileWith('by file')
  process.env['STORE_NAME'] = 'Corner'
  try {
    const environment = ownEnvironment(() => undefined)
    expect(environment).toMatchObject({
      METRICS_TOKEN: 'by value',
      GAS_KEY: 'by file',
      STORE_NAME: 'Corner',
    })
    expect(process.env).toMatchObject({ STORE_NAME: 'Corner' })
    expect(Object.keys(process.env).filter((name) => /METRICS_TOKEN|GAS_KEY/.test(name))).toEqual(
      [],
    )
  } finally {
    for (const name of ['METRICS_TOKEN', 'GAS_KEY_FILE', 'STORE_NAME']) delete process.env[name]
  }
})

test('files of variables are found among what Node was told', () => {
  const told = ['--env-file=a=b', '--trace-warnings', '--env-file', 'c', '--env-file-if-exists=d']
  expect(envFilesIn(told)).toEqual(['a=b', 'c', 'd'])
})

test('a file of variables that other accounts can read is named too', () => {
  const [open, before] = [fileWith('STORE_NAME=Corner', 0o644), process.execArgv]
  process.execArgv = [`--env-file=${open}`]
  const warnings: string[] = []
  try {
    ownEnvironment((line) => warnings.push(line))
    chmodSync(open, 0o600)
    ownEnvironment((line) => warnings.push(line))
  } finally {
    process.execArgv = before
  }
  expect(warnings).toEqual([
    `${open} can be read by other accounts of this machine; close it: chmod 600 '${open}'`,
  ])
})
