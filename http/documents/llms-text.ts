import { type Guides, guideAddress } from './guides.ts';

/**
 * Writes `llms.txt` (llmstxt.org): a list of the documents that a language model needs to use this server, as Markdown.
 */
export function llmsText(guides: Pick<Guides, 'sections'>): string {
  const sections = guides.sections().map(({ title, guides: listed }) => {
    const links = listed.map((guide) => `- [${guide.title}](${guideAddress(guide)}.md)`);
    return `## ${title}\n\n${links.join('\n')}\n`;
  });
  return `# Valetkey

> Valetkey gives AI agents authenticated access to third-party applications. An agent calls a tool by its name; Valetkey
> stores the credentials of the user's account, refreshes them, and makes the call.

## Contract

- [OpenAPI document as YAML](/openapi.yaml): every operation, schema, error and event
- [OpenAPI document as JSON](/openapi.json)
- [Error codes](/docs/errors)

${sections.join('\n')}`;
}
