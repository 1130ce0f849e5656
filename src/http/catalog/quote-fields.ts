import { Refusal } from '../../lib/refusal.ts'

/** Nothing that a purchase asks for needs more. */
const maxQuery = 2_048

/**
 * The fields of a quote out of the raw query, as a purchase body would carry them, so that a quote
 * is refused for the same reasons. `value` becomes a number, and `confirmNumber` true or false. A phone number begins with a plus
 * sign, which a query turns into a space when it is not escaped; there it can only have been a plus.
 *
 * @throws Refusal `invalid_parameter`, `repeated_parameter`
 */
export function quoteFields(url: string): Record<string, unknown> {
  const query = url.split('?').slice(1).join('?')
  if (query.length > maxQuery) {
    throw new Refusal('invalid_parameter', `The query is longer than ${maxQuery} characters.`)
  }
  const fields: Record<string, unknown> = Object.create(null)
  for (const pair of query.split('&').filter((part) => part !== '')) {
    const [name = '', ...rest] = pair.split('=')
    const parameter = decode(name)
    if (Object.hasOwn(fields, parameter)) {
      const message = `The parameter ${parameter} is given more than once.`
      throw new Refusal('repeated_parameter', message, { parameter })
    }
    fields[parameter] = meant(parameter, decode(rest.join('=')))
  }
  return fields
}

function meant(parameter: string, text: string): string | number | boolean {
  if (parameter === 'confirmNumber' && /^(true|false)$/.test(text)) return text === 'true'
  if (parameter === 'value' && /^\d+(\.\d+)?$/.test(text)) return Number(text)
  return parameter === 'msisdn' ? text.replace(/^ /, '+') : text
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new Refusal('invalid_parameter', 'The query is not valid percent-encoded UTF-8.')
  }
}
