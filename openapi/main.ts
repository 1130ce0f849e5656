import { writeFileSync } from 'node:fs'
import { operations } from '../src/api/operations.ts'
import { openApiOf } from './document.ts'
import { readExamples } from './examples.ts'

/** Writes `openapi.json` anew out of the registry and the recorded examples. */
const document = openApiOf(operations, readExamples())
writeFileSync(new URL('../openapi.json', import.meta.url), `${JSON.stringify(document, null, 2)}\n`)
