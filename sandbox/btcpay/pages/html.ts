/** Markup made by `html`, which needs no escaping. */
export interface Html {
  readonly html: string
}

type Part = string | number | Html | readonly Html[]

/** Escapes every value that it did not make itself. */
export function html(texts: TemplateStringsArray, ...parts: readonly Part[]): Html {
  const written = parts.map(write)
  return { html: texts.map((text, index) => text + (written[index] ?? '')).join('') }
}

function write(part: Part): string {
  if (typeof part === 'string' || typeof part === 'number') return escaped(String(part))
  return 'html' in part ? part.html : part.map((each) => each.html).join('')
}

function escaped(text: string): string {
  const names: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (letter) => names[letter] ?? letter)
}

const style = `
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
body { max-width: 60rem; margin: 0 auto; padding: 1rem }
table { border-collapse: collapse; width: 100% }
th, td { text-align: left; padding: .4rem .6rem; border-bottom: 1px solid #8884; vertical-align: top }
code { overflow-wrap: anywhere }
form { display: flex; flex-wrap: wrap; gap: .6rem; margin: 1rem 0; align-items: center }
button, select, input[type=text] { font: inherit; min-height: 2.75rem; padding: 0 1rem }
.fault { border: 2px solid #c33; padding: .6rem 1rem }
`

/** A whole page. It reloads itself after `refreshSeconds`, if given. */
export function page(title: string, body: Html, refreshSeconds?: number): string {
  const refresh =
    refreshSeconds === undefined
      ? html``
      : html`<meta http-equiv="refresh" content="${refreshSeconds}">`
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
${refresh}
<title>${title}</title>
<style>${{ html: style }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`.html
}
