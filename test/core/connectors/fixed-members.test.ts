import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { renderTemplate } from '../../../core/tools/body-template.ts';
import { RenderBudget } from '../../../core/tools/render-budget.ts';

const catalogue = createCatalogue(
  readCatalogueIndex(readFileSync(new URL('../../../generated/catalogue.json', import.meta.url), 'utf8')),
);

/** Returns the body of a tool's request. */
function bodyOf(name: string, input: Record<string, unknown>): unknown {
  const template = catalogue.tool(name)?.request.body?.value;
  return renderTemplate(template, { input, account: {}, budget: new RenderBudget() });
}

describe('tools whose bodies have fixed members beside an optional input', () => {
  it('send the fixed members without the input, because the API requires them', () => {
    expect(bodyOf('pagerduty_resolve_incident', {})).to.deep.equal({
      incident: { type: 'incident_reference', status: 'resolved' },
    });
    expect(bodyOf('miro_create_frame', { width: 800, height: 600 })).to.deep.equal({
      data: { format: 'custom', type: 'freeform' },
      geometry: { width: 800, height: 600 },
    });
    expect(bodyOf('zoho_crm_convert_lead', {})).to.deep.equal({
      data: [{ overwrite: false, notify_lead_owner: true }],
    });
  });

  it('send the input with them', () => {
    expect(bodyOf('pagerduty_resolve_incident', { resolution: 'Rolled back.' })).to.deep.equal({
      incident: { type: 'incident_reference', status: 'resolved', resolution: 'Rolled back.' },
    });
  });
});
