import { readFileSync } from 'node:fs'
import spectralCore, { type RulesetDefinition } from '@stoplight/spectral-core'
import spectralRulesets from '@stoplight/spectral-rulesets'
import { expect, test } from 'vitest'
import { operations } from '../src/api/operations.ts'
import { openApiOf } from './document.ts'
import { readExamples } from './examples.ts'
import { documentedOf } from './responses.ts'

const checkedIn = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
const recorded = readExamples()

test('openapi.json follows from the registry and the recorded examples: npm run openapi', () => {
  const document = openApiOf(operations, recorded)
  expect(checkedIn).toEqual(JSON.parse(JSON.stringify(document)))
})

test('every status and every code of every operation has a real answer: npm run openapi', () => {
  const missing = operations.flatMap((operation) => {
    const examples = recorded[operation.id] ?? []
    const known = new Set(examples.map(({ name, status }) => `${status} ${name}`))
    return documentedOf(operation).flatMap(({ status, codes, shape }) => {
      const named = codes.filter((code) => !known.has(`${status} ${code}`))
      const isEmpty = shape !== undefined && !examples.some((example) => example.status === status)
      return [...named, ...(isEmpty ? ['any'] : [])].map(
        (name) => `${operation.id} ${status} ${name}`,
      )
    })
  })
  expect(missing).toEqual([])
})

test('nothing is recorded of what is no operation, or of no status of it', () => {
  const stray = Object.entries(recorded).flatMap(([id, examples]) => {
    const operation = operations.find((one) => one.id === id)
    const statuses = operation ? documentedOf(operation).map(({ status }) => status) : []
    return examples
      .filter(({ status }) => !statuses.includes(status))
      .map(({ name, status }) => `${id} ${status} ${name}`)
  })
  expect(stray).toEqual([])
})

/**
 * The bazaar extension of an answer has a member called `example`, and the linter takes the object
 * around it for a schema, although it stands in the example of an answer.
 */
function isData(path: readonly (string | number)[]): boolean {
  return path.includes('examples') && path.slice(-4).join('.') === 'bazaar.info.output.example'
}

test('the linter finds nothing, not even a hint', async () => {
  const spectral = new spectralCore.Spectral()
  spectral.setRuleset({
    extends: [[spectralRulesets.oas as RulesetDefinition, 'all']],
    // Groups stand in the order of use.
    rules: { 'openapi-tags-alphabetical': 'off' },
  })
  const findings = (await spectral.run(checkedIn)).filter(({ path }) => !isData(path))
  expect(
    findings.map(({ code, path, message }) => `${code} ${path.join('.')}: ${message}`),
  ).toEqual([])
})
