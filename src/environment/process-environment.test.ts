import { afterEach, expect, test } from 'vitest'
import { adoptEnvironment, environmentAtStart } from './process-environment.ts'

const names = ['PGSSLMODE', 'PGPASSWORD', 'GAS_KEY', 'STORE_NAME']
afterEach(() => {
  for (const name of names) delete process.env[name]
})

test('a process starts with what is read before its first line, and with nothing else', () => {
  const read = {
    PATH: '/bin',
    LC_ALL: 'C',
    TZ: 'UTC',
    NODE_ENV: 'production',
    NODE_OPTIONS: '--max-old-space-size=512',
    NODE_EXTRA_CA_CERTS: '/etc/ca.pem',
    NODE_COMPILE_CACHE: '/var/cache',
    MALLOC_ARENA_MAX: '2',
    LD_PRELOAD: '/lib/malloc.so',
  }
  const others = {
    PGPASSWORD: 'secret',
    NODE_AUTH_TOKEN: 'secret',
    HTTPS_PROXY: 'http://me:secret@proxy',
    GAS_KEY: 'secret',
    STORE_NAME: 'Corner',
    MY_PATH: 'secret',
  }
  expect(environmentAtStart({ ...read, ...others })).toEqual(read)
})

test('libraries find their variables in the process, and no secret of the store', () => {
  const own = { PGSSLMODE: 'require', PGPASSWORD: 'of PostgreSQL', STORE_NAME: 'Corner' }
  adoptEnvironment({ ...own, GAS_KEY: 'secret', TERMS_FILE: undefined })
  expect(process.env).toMatchObject(own)
  expect(process.env).not.toHaveProperty('GAS_KEY')
  expect(process.env).not.toHaveProperty('TERMS_FILE')
})
