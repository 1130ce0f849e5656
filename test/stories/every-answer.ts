import { afterAll, expect } from 'vitest'
import { findings } from './documented.ts'

// Runs with every file of stories: the stores are also opened outside of tests, by the fuzzer.
afterAll(() => {
  const found = [...findings]
  findings.clear()
  expect(found, 'answers that openapi.json does not describe').toEqual([])
})
