import { writeFileSync } from 'node:fs'
import { operations } from '../src/api/operations.ts'
import { openApiOf } from './document.ts'
import { readExamples } from './examples.ts'
import { reviewable } from './reviewable.ts'

/** Writes `openapi.json` from the registry and the recorded examples. */
const document = openApiOf(operations, readExamples())
writeFileSync(new URL('../openapi.json', import.meta.url), reviewable(document))
