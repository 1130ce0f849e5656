import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ToolOutcome } from './tool.ts'

/** The outcome of a tool as an MCP result. The text repeats the data for clients that ignore `structuredContent`. */
export function resultOf(said: ToolOutcome): CallToolResult {
  return said.type === 'demand' ? paymentRequiredResult(said) : answerResult(said)
}

function answerResult(said: Extract<ToolOutcome, { type: 'answer' }>): CallToolResult {
  const { body, advice, picture, meta } = said
  return {
    structuredContent: dataOf(body),
    content: [
      { type: 'text', text: JSON.stringify(body) },
      ...(advice === undefined ? [] : [{ type: 'text' as const, text: advice }]),
      ...(picture === undefined
        ? []
        : [{ type: 'image' as const, data: picture, mimeType: 'image/png' }]),
    ],
    ...(meta === undefined ? {} : { _meta: { ...meta } }),
  }
}

/**
 * A demand for a payment or a sign-in: the data, and the same data as the only text (x402). The message comes first,
 * because some clients show a model only the beginning.
 */
function paymentRequiredResult({
  required,
  more,
}: Extract<ToolOutcome, { type: 'demand' }>): CallToolResult {
  const body = { ...more, ...required }
  return {
    isError: true,
    structuredContent: dataOf(body),
    content: [{ type: 'text', text: JSON.stringify(body) }],
  }
}

/** A refusal as a tool's error: the problem document, and a sentence that sums it up. */
export function problemResult(problem: Readonly<Record<string, unknown>>): CallToolResult {
  return {
    isError: true,
    structuredContent: dataOf(problem),
    content: [{ type: 'text', text: sentenceOf(problem) }],
  }
}

function sentenceOf({
  detail,
  code,
  didYouMean,
  charged,
  retryAfterSeconds,
}: Readonly<Record<string, unknown>>): string {
  const facts = [
    `code ${String(code)}`,
    ...(didYouMean === undefined ? [] : [`probably meant: ${String(didYouMean)}`]),
    ...(charged === undefined ? [] : [`charged: ${String(charged)}`]),
    ...(retryAfterSeconds === undefined ? [] : [`again in ${String(retryAfterSeconds)} seconds`]),
  ]
  return `${String(detail)} (${facts.join('; ')})`
}

/** As JSON encodes it: without fields that are undefined. */
function dataOf(body: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(body))
}
