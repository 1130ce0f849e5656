import { readFileSync } from 'node:fs'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { operations } from '../src/api/operations.ts'
import { callsOf } from './calls/refusals.ts'
import { openApiOf } from './document.ts'
import { readExamples, refusalKey } from './examples.ts'
import { documentedOf } from './operation-object.ts'

const checkedIn = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
const recorded = readExamples()

test('openapi.json follows from the registry and the recorded examples: npm run openapi', () => {
  const document = openApiOf(operations, recorded)
  expect(checkedIn).toEqual(JSON.parse(JSON.stringify(document)))
})

test('every status and every code of every operation is called', () => {
  const missing = operations.flatMap((operation) => {
    const calls = callsOf([operation])
    const called = new Set(calls.map(({ name, status }) => `${status} ${name}`))
    return documentedOf(operation).flatMap(({ status, codes, shape }) => {
      const named = codes.filter((code) => !called.has(`${status} ${code}`))
      const isEmpty = shape !== undefined && !calls.some((call) => call.status === status)
      return [...named, ...(isEmpty ? ['any'] : [])].map(
        (name) => `${operation.id} ${status} ${name}`,
      )
    })
  })
  expect(missing).toEqual([])
})

test('every way to do what is asked, and every code once, has a real answer: npm run openapi', () => {
  const good = operations.map(({ id }) => [
    id,
    callsOf(operations)
      .filter(({ operation, status }) => operation === id && status < 400)
      .map(({ name }) => name),
  ])
  const shown = operations.map(({ id }) => [
    id,
    (recorded[id] ?? []).filter(({ status }) => status < 400).map(({ name }) => name),
  ])
  expect(Object.fromEntries(shown)).toEqual(Object.fromEntries(good))
  const refused = Object.values(recorded).flatMap((examples) =>
    examples.filter(({ status }) => status >= 400),
  )
  const codes = operations.flatMap((operation) =>
    documentedOf(operation).flatMap((one) => one.codes),
  )
  const names = refused.map(({ name }) => name)
  expect(codes.filter((code) => !names.includes(code))).toEqual([])
  expect(new Set(refused.map(refusalKey)).size).toBe(refused.length)
})

test('the linter finds nothing, not even a hint', async () => {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({
    extends: [[spectralRulesets.oas as RulesetDefinition, 'all']],
    // Groups are in the order of use.
    rules: { 'openapi-tags-alphabetical': 'off' },
  })
  const findings = await spectral.run(checkedIn)
  expect(
    findings.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`),
  ).toEqual([])
})
