import { readFileSync, type Stats, statSync } from 'node:fs'
import { resolve, sep } from 'node:path'
import { ConfigError, secretVariables } from './environment.ts'

type Environment = Record<string, string | undefined>

const fileVariableOf = (name: string) => `${name}_FILE`

/** Removes the secrets from `process.env`, so that no child process inherits one. @throws ConfigError */
export function ownEnvironment(warn: (line: string) => void): Readonly<Environment> {
  const environment = withSecretFiles(process.env, warn)
  for (const file of envFilesIn(process.execArgv)) warnIfOpen(file, warn)
  for (const name of secretVariables) {
    delete process.env[name]
    delete process.env[fileVariableOf(name)]
  }
  return environment
}

/** An empty variable counts as not set. @throws ConfigError that never has the content of a file */
export function withSecretFiles(
  environment: Readonly<Environment>,
  warn: (line: string) => void,
): Readonly<Environment> {
  const variables = { ...environment }
  const problems: string[] = []
  for (const name of secretVariables) {
    const variable = fileVariableOf(name)
    const file = variables[variable]
    delete variables[variable]
    if (!file) continue
    const both = { problem: `${name} and ${variable} are both set; set one of them` }
    const secret = variables[name] ? both : secretIn(variable, file)
    if ('problem' in secret) {
      problems.push(secret.problem)
      continue
    }
    variables[name] = secret.value
    if (!isCredential(file, environment)) warnIfOpen(file, warn)
  }
  if (problems.length > 0) throw new ConfigError(problems)
  return variables
}

function secretIn(variable: string, file: string): { value: string } | { problem: string } {
  try {
    const value = readFileSync(file, 'utf8').replace(/\r?\n$/, '')
    return value === '' ? { problem: `${variable} names ${file}, which is empty` } : { value }
  } catch (error) {
    const { message } = error as NodeJS.ErrnoException
    return { problem: `${variable} names ${file}, which cannot be read: ${message}` }
  }
}

/** Systemd closes their folder to other accounts, whatever the mode of a file (systemd.exec(5), CREDENTIALS_DIRECTORY). */
function isCredential(file: string, { CREDENTIALS_DIRECTORY: folder }: Readonly<Environment>) {
  return Boolean(folder) && resolve(file).startsWith(`${resolve(folder ?? '')}${sep}`)
}

export function warnIfOpen(file: string, warn: (line: string) => void): void {
  const stats = statSync(file, { throwIfNoEntry: false })
  if (process.platform === 'win32' || !stats?.isFile() || (stats.mode & 0o044) === 0) return
  warn(`${file} can be read by other accounts of this machine; close it: ${mendFor(file, stats)}`)
}

function mendFor(file: string, { uid }: Stats): string {
  const quoted = `'${file.replaceAll("'", "'\\''")}'`
  const own = process.getuid?.()
  const chmod = `chmod 600 ${quoted}`
  return own === 0 || own === uid ? chmod : `chown ${own} ${quoted} && ${chmod}`
}

/** As `--env-file=.env` or `--env-file .env`. */
export function envFilesIn(nodeArguments: readonly string[]): readonly string[] {
  const files: string[] = []
  const left = [...nodeArguments]
  for (let one = left.shift(); one !== undefined; one = left.shift()) {
    const match = /^--env-file(?:-if-exists)?(?:=(.*))?$/s.exec(one)
    if (match !== null) files.push(match[1] ?? left.shift() ?? '')
  }
  return files
}
