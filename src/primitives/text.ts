/** Lower case without accents, so that text compares as people mean it (decisions 2). */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase()
}

/** The words of a text, folded: runs of letters and digits. */
export function wordsOf(text: string): string[] {
  return fold(text).match(/[\p{L}\p{N}]+/gu) ?? []
}

/** The lower-case name with hyphens: "South Asia" is `south-asia` (decisions 3). */
export function slugOf(name: string): string {
  return wordsOf(name).join('-')
}
