import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { dataHtml } from './fields.ts';

/** The most that a scope lets the application do. */
export type ScopeAccess = 'read' | 'write' | 'delete';

export interface ScopeView {
  name: string;
  description: string;
  access: ScopeAccess;
}

const GROUPS = [
  { access: 'read', heading: 'link.scopes_read' },
  { access: 'write', heading: 'link.scopes_write' },
  { access: 'delete', heading: 'link.scopes_delete' },
] as const;

/** The scopes that the user shares, grouped by their effect; scopes that can delete are marked. */
export function scopesHtml(context: PageContext, scopes: readonly ScopeView[], dataLanguage: string): Html {
  const { texts, brand } = context;
  if (scopes.length === 0) return html`      <p>${texts.html('link.scopes_unknown')}</p>\n`;
  const groups = GROUPS.map(({ access, heading }) => {
    const inGroup = scopes.filter((scope) => scope.access === access);
    if (inGroup.length === 0) return html``;
    const items = inGroup.map((scope) => scopeHtml(context, scope, dataLanguage));
    return html`      <h3 class="${access}">${texts.html(heading)}</h3>
      <ul class="scopes ${access}">
${items}      </ul>
`;
  });
  return html`      <h2>${texts.html('link.scopes', { application: brand.application })}</h2>
${groups}`;
}

function scopeHtml({ texts }: PageContext, { name, description, access }: ScopeView, dataLanguage: string): Html {
  const language = { texts, dataLanguage };
  const mark = access === 'delete' ? html` <span class="danger">${texts.html('link.can_delete')}</span>` : html``;
  const more = description ? html`<br><span class="hint">${dataHtml(description, language)}</span>` : html``;
  return html`        <li>${dataHtml(name, language)}${mark}${more}</li>\n`;
}
