import { Tiktoken } from 'js-tiktoken/lite'
import o200k from 'js-tiktoken/ranks/o200k_base'

let encoder: Tiktoken | undefined

/** How many tokens a model reads in a text, by the o200k encoding. */
export function tokensIn(text: string): number {
  encoder ??= new Tiktoken(o200k)
  return encoder.encode(text).length
}
