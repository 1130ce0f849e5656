import { operations } from '../src/api/operations.ts'
import { openApiOf } from './document.ts'
import { readExamples, writeJson } from './examples.ts'

writeJson(new URL('../openapi.json', import.meta.url), openApiOf(operations, readExamples()))
