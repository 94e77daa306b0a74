import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import fc from 'fast-check';
import { createCatalogue } from '../../../core/connectors/catalogue.ts';
import { readCatalogueIndex } from '../../../core/connectors/catalogue-index.ts';
import { ApiError } from '../../../core/errors.ts';
import { applyOverlay } from '../../../core/overlays/apply-overlay.ts';
import { toolDigest } from '../../../core/overlays/tool-digest.ts';
import { createInputChecker } from '../../../core/tools/input.ts';
import type { Tool } from '../../../core/tools/tool.ts';
import { ROOT } from '../../flows/markdown.ts';
import { ownTool } from '../../support/own-tools.ts';

const SETTINGS = { hidden: false, title: null, addedDescription: null, presetInputs: {}, allowedValues: {} };

describe('applyOverlay', () => {
  const catalogue = createCatalogue(readCatalogueIndex(readFileSync(join(ROOT, 'generated/catalogue.json'), 'utf8')));
  const names = catalogue.toolNames();
  const inputs = createInputChecker();

  /** Returns the input that requests are rendered from; undefined if the tool rejects it. */
  function accepted(tool: Tool, input: object): Record<string, unknown> | undefined {
    try {
      return inputs.check(tool, input).input;
    } catch (error) {
      if (error instanceof ApiError && error.code === 'INVALID_TOOL_INPUT') return undefined;
      throw error;
    }
  }

  /** A tool with an example, a seed that selects inputs of the example to preset or restrict, and other input. */
  const cases = fc
    .record({
      tool: fc.constantFrom(...names).map((name) => catalogue.peek(name) as Tool),
      seed: fc.array(fc.nat(2), { minLength: 12, maxLength: 12 }),
      noise: fc.dictionary(fc.constantFrom('owner', 'repo', 'state', 'page_size', 'query', 'id', 'x'), fc.jsonValue()),
    })
    .filter(({ tool }) => tool.examples.length > 0);

  function overlayOf(tool: Tool, seed: readonly number[]) {
    const given = Object.entries(tool.examples[0]?.input ?? {});
    const chosen = (which: number) => given.filter((_entry, index) => seed[index % seed.length] === which);
    const presetInputs = Object.fromEntries(chosen(1));
    const allowedValues = Object.fromEntries(chosen(2).map(([name, value]) => [name, [value].flat()]));
    return { newName: null, settings: { ...SETTINGS, presetInputs, allowedValues } };
  }

  it('never accepts an input that the tool rejects, for any tool and overlay', () => {
    fc.assert(
      fc.property(cases, ({ tool, seed, noise }) => {
        const overlay = overlayOf(tool, seed);
        const { presetInputs, allowedValues } = overlay.settings;
        const restricted = applyOverlay(tool, overlay);
        const example = tool.examples[0]?.input ?? {};
        const rest = Object.fromEntries(Object.entries(example).filter(([name]) => !Object.hasOwn(presetInputs, name)));
        for (const input of [rest, { ...rest, ...noise }, noise, { ...rest, ...presetInputs }]) {
          const rendered = accepted(restricted, input);
          if (!rendered) continue;
          expect(accepted(tool, rendered)).to.deep.equal(rendered);
          expect(rendered).to.deep.include(presetInputs);
          for (const [name, values] of Object.entries(allowedValues)) {
            expect(values).to.deep.include.members([rendered[name]].flat());
          }
        }
      }),
      { numRuns: 100 },
    );
  });

  it('accepts the example of a tool without the inputs that it presets, and shows none of them', () => {
    fc.assert(
      fc.property(cases, ({ tool, seed }) => {
        const overlay = overlayOf(tool, seed);
        const restricted = applyOverlay(tool, overlay);
        const shown = Object.keys((restricted.input_schema['properties'] as object | undefined) ?? {});
        expect(shown).not.to.include.members(['', ...Object.keys(overlay.settings.presetInputs)]);
        for (const name of Object.keys(overlay.settings.presetInputs)) expect(shown).not.to.include(name);
        const example = restricted.examples[0];
        // An empty list has no item that could be allowed, and the tool does not have to accept an empty enumeration.
        const isPossible = Object.values(overlay.settings.allowedValues).every((values) => values.length > 0);
        if (!isPossible || !example) return;
        expect(accepted(restricted, example.input)).to.deep.include(example.input);
      }),
      { numRuns: 100 },
    );
  });

  it('keeps an allowed default, and requires an input whose default is not allowed', () => {
    const state = { type: 'string', enum: ['open', 'closed', 'all'], default: 'open' };
    const tool = ownTool('acme', 'acme_list', {
      input_schema: { type: 'object', additionalProperties: false, properties: { state } },
    });
    const limited = (values: string[]) =>
      applyOverlay(tool, { newName: null, settings: { ...SETTINGS, allowedValues: { state: values } } });
    expect(accepted(limited(['open', 'closed']), {})).to.deep.equal({ state: 'open' });
    expect(accepted(limited(['closed']), {})).to.equal(undefined);
    expect(accepted(limited(['closed']), { state: 'closed' })).to.deep.equal({ state: 'closed' });
    expect(accepted(limited(['closed']), { state: null })).to.equal(undefined);
  });

  it('rejects an empty list of choices', () => {
    const channels = { type: 'array', items: { type: 'string' }, default: [] };
    const tool = ownTool('acme', 'acme_search', {
      input_schema: { type: 'object', additionalProperties: false, properties: { channels } },
    });
    const limited = applyOverlay(tool, {
      newName: null,
      settings: { ...SETTINGS, allowedValues: { channels: ['general'] } },
    });
    expect(accepted(tool, {})).to.deep.equal({ channels: [] });
    for (const input of [{}, { channels: [] }, { channels: ['other'] }])
      expect(accepted(limited, input)).to.equal(undefined);
    expect(accepted(limited, { channels: ['general'] })).to.deep.equal({ channels: ['general'] });
  });

  it('validates rules between inputs that a caller no longer sees', () => {
    const properties = { number: { type: 'integer' }, name: { type: 'string' }, colour: { type: 'string' } };
    const tool = ownTool('acme', 'acme_find', {
      input_schema: {
        type: 'object',
        additionalProperties: false,
        properties,
        oneOf: [
          { properties: { number: {} }, required: ['number'] },
          { properties: { name: {} }, required: ['name'] },
        ],
      },
    });
    const pinned = applyOverlay(tool, { newName: null, settings: { ...SETTINGS, presetInputs: { number: 1 } } });
    expect(pinned.input_schema).not.to.have.property('oneOf');
    expect(accepted(pinned, { colour: 'red' })).to.deep.equal({ number: 1, colour: 'red' });
    expect(accepted(pinned, { name: 'lamp' })).to.equal(undefined);
  });

  it('has a digest that changes with the inputs and the request, and not with descriptions', () => {
    const tool = ownTool('acme', 'acme_get');
    const described = { ...tool, description: 'Another one.', examples: [] };
    expect(toolDigest(described)).to.equal(toolDigest(tool));
    const named = { description: { type: 'string' } };
    const added = { ...tool, input_schema: { ...tool.input_schema, properties: named } };
    expect(toolDigest(added)).not.to.equal(toolDigest(tool));
    const other = { ...tool, request: { ...tool.request, path: '/other/{number}' } };
    expect(toolDigest(other)).not.to.equal(toolDigest(tool));
  });
});
