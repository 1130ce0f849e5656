/**
 * Headers of every page. Nothing is loaded but our own style sheet and pictures; pages run no
 * script, send no form, stand in no frame, and tell no other site where a visitor came from.
 *
 * @param pictures URLs of pictures elsewhere that this one page shows
 */
export function pageHeaders(pictures: readonly string[]): Record<string, string> {
  const origins = new Set(pictures.map((url) => new URL(url).origin))
  const policy = [
    "default-src 'none'",
    "style-src 'self'",
    `img-src ${["'self'", ...origins].join(' ')}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    ...fixedHeaders,
    'content-security-policy': policy.join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'permissions-policy':
      'accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), microphone=(), payment=(), usb=()',
  }
}

/** What holds for everything the website serves, pictures and styles too. */
export const fixedHeaders: Readonly<Record<string, string>> = {
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
}
