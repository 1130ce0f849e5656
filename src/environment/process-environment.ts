import { setGlobalProxyFromEnv } from 'node:http'
import { isSecret } from './secret-files.ts'

type Environment = Readonly<Record<string, string | undefined>>

/**
 * What the loader, libc, OpenSSL and Node read before the first line of a program runs. Only names that are
 * known to carry no secret belong here.
 */
const readAtStart = [
  /^(PATH|HOME|USER|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR)$/,
  /^(LD_\w+|MALLOC_\w+|GLIBC_TUNABLES|UV_\w+|OPENSSL_CONF|SSL_CERT_(DIR|FILE))$/,
  /^NODE_(DISABLE_)?COMPILE_CACHE(_PORTABLE)?$/,
  /^NODE_(DEBUG|ENV|EXTRA_CA_CERTS|ICU_DATA|NO_WARNINGS|OPTIONS|PENDING_DEPRECATION)$/,
  /^NODE_(REDIRECT_WARNINGS|TLS_REJECT_UNAUTHORIZED|USE_SYSTEM_CA|V8_COVERAGE)$/,
]

/**
 * The environment that a process of the store is started with, which `/proc` shows to every process of the
 * same account. A worker gets all other variables afterwards over IPC, and a catalog process on its standard
 * input: any of them may be a secret, such as `PGPASSWORD`, or the token of a program that has nothing to do
 * with the store.
 */
export function environmentAtStart(environment: Environment): Record<string, string | undefined> {
  const names = Object.keys(environment).filter((name) => readAtStart.some((one) => one.test(name)))
  return Object.fromEntries(names.map((name) => [name, environment[name]]))
}

/**
 * Gives the libraries of this process what they read from `process.env`, which changes nothing in `/proc`.
 * The secrets of the store stay out of it.
 */
export function adoptEnvironment(environment: Environment): void {
  for (const [name, value] of Object.entries(environment)) {
    if (value !== undefined && !isSecret(name)) process.env[name] = value
  }
  // Node read the proxy variables before they were set.
  if (process.env['NODE_USE_ENV_PROXY'] === '1') setGlobalProxyFromEnv()
}
