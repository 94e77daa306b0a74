import type { Html } from '../html.ts';
import { html } from '../html.ts';
import type { PageContext } from './context.ts';
import { type DataLanguage, dataHtml } from './data-text.ts';

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

/** The scopes that the user shares, grouped by their effect and marked with it. */
export function scopesHtml(context: PageContext, scopes: readonly ScopeView[], dataLanguage: string): Html {
  const { texts, brand } = context;
  const language = { texts, dataLanguage };
  if (scopes.length === 0) return html`      <p>${texts.html('link.scopes_unknown')}</p>\n`;
  const groups = GROUPS.map(({ access, heading }) => {
    const inGroup = scopes.filter((scope) => scope.access === access);
    if (inGroup.length === 0) return html``;
    const items = inGroup.map((scope) => scopeHtml(scope, language));
    return html`      <h3 class="${access}">${texts.html(heading)}</h3>
      <ul class="scopes ${access}">
${items}      </ul>
`;
  });
  return html`      <h2>${texts.html('link.scopes', { application: brand.application })}</h2>
${groups}`;
}

function scopeHtml({ name, description }: ScopeView, language: DataLanguage): Html {
  const more = description ? html`<br><span class="hint">${dataHtml(description, language)}</span>` : html``;
  return html`        <li>${dataHtml(name, language)}${more}</li>\n`;
}
