import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { acceptedCodings, compress } from './content-coding.ts'

test.each([
  [undefined, ['identity']],
  ['', ['identity']],
  ['gzip', ['gzip', 'identity']],
  ['gzip, deflate, br', ['br', 'gzip', 'identity']],
  ['gzip, deflate, br, zstd', ['br', 'gzip', 'identity']],
  ['GZIP', ['gzip', 'identity']],
  ['x-gzip', ['gzip', 'identity']],
  ['br;q=0.5, gzip;q=0.8', ['gzip', 'br', 'identity']],
  ['br ; q=0.5 , gzip;Q=1.000', ['gzip', 'br', 'identity']],
  ['identity, gzip;q=0.5', ['identity', 'gzip']],
  ['br;q=0, gzip', ['gzip', 'identity']],
  ['*', ['br', 'gzip', 'identity']],
  ['*;q=0.5, gzip', ['gzip', 'br', 'identity']],
  ['br, *;q=0', ['br']],
  ['gzip, identity;q=0', ['gzip']],
  ['identity;q=0', []],
  ['*;q=0', []],
  ['*;q=0, identity', ['identity']],
  ['br;q=2, gzip;q=-1, deflate;q=x', ['identity']],
  ['br;q=0.0001', ['identity']],
  ['bro, gzipped', ['identity']],
  [',,;q=1,', ['identity']],
])('%j takes %j', (header, codings) => {
  expect(acceptedCodings(header)).toEqual(codings)
})

test('both forms hold the very bytes', async () => {
  const body = Buffer.from('{"brandName":"Pokémon"}'.repeat(100))
  expect(brotliDecompressSync(await compress(body, 'br'))).toEqual(body)
  expect(gunzipSync(await compress(body, 'gzip'))).toEqual(body)
})
