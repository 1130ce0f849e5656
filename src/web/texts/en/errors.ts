/** Every sentence of the page that explains errors, but for the codes themselves. */
export const errors = {
  title: 'Errors explained',
  description: 'Every error code of this store: when it is answered, and what to do about it.',
  lead: 'Every refusal has a code, and its problem document (RFC 9457) links to its row here. Errors about money also say in "charged" whether any moved: no, yes or unknown.',
  code: 'Code',
  when: 'When',
  agent: 'What the agent does',
  operator: 'What the operator does',
  retryable: 'may work later',
}
