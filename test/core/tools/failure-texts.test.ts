import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import fc from 'fast-check';
import { parse } from 'yaml';
import type { ConnectorApi } from '../../../core/connectors/provider.ts';
import { failureTexts } from '../../../core/tools/failure-texts.ts';
import { failureMessage, responseFailure } from '../../../core/tools/outcome.ts';
import { NOW, providerOf, toolOf } from './samples.ts';

function reasonFrom(connector: string, status: number, json: unknown): string {
  const file = new URL(`../../../catalogue/connectors/${connector}.yaml`, import.meta.url);
  const { api } = parse(readFileSync(file, 'utf8')) as { api: ConnectorApi };
  const failure = responseFailure(toolOf(), providerOf({ api }), { status, headers: {}, json }, NOW);
  return failureMessage(status, failure ?? {}).replace(`The provider returned ${status}`, '');
}

/** Returns the first text in a value that is not blank, in the order of the document. */
function firstText(value: unknown): string | undefined {
  if (typeof value === 'string') return value.trim() === '' ? undefined : value;
  if (typeof value !== 'object' || value === null) return undefined;
  return Object.values(value)
    .map(firstText)
    .find((text) => text !== undefined);
}

describe('The error text of a rejected call', () => {
  it('is read for Jira, whose general list is empty when a field is invalid', () => {
    const json = { errorMessages: [], errors: { summary: 'You must specify a summary of the issue.' } };
    expect(reasonFrom('jira', 400, json)).to.equal(': summary: You must specify a summary of the issue.');
    expect(reasonFrom('jira', 404, { errorMessages: ['Issue does not exist'], errors: {} })).to.equal(
      ': Issue does not exist',
    );
  });

  it('is read for GitLab, whose message may be a list or an object', () => {
    expect(reasonFrom('gitlab', 400, { message: { title: ["can't be blank", 'is too short'] } })).to.equal(
      ": title: can't be blank; title: is too short",
    );
    expect(reasonFrom('gitlab', 409, { message: ['Another open merge request exists'] })).to.equal(
      ': Another open merge request exists',
    );
    expect(reasonFrom('gitlab', 404, { message: '404 Project Not Found' })).to.equal(': 404 Project Not Found');
  });

  it('is read for Discord, whose nested errors name the field', () => {
    const json = {
      code: 50_035,
      message: 'Invalid Form Body',
      errors: { content: { _errors: [{ code: 'BASE_TYPE_REQUIRED', message: 'This field is required' }] } },
    };
    expect(reasonFrom('discord_bot', 400, json)).to.equal(': Invalid Form Body: content: This field is required');
  });

  it('is read for Zendesk, which describes each field', () => {
    const json = {
      error: 'RecordInvalid',
      description: 'Record validation errors',
      details: { requester: [{ description: 'Requester: Email is invalid', error: 'InvalidValue' }] },
    };
    expect(reasonFrom('zendesk', 422, json)).to.equal(
      ': Record validation errors: requester: Requester: Email is invalid',
    );
  });

  it('is read for PagerDuty, which lists the fields', () => {
    const json = { error: { code: 2001, message: 'Invalid Input Provided', errors: ['Title cannot be empty.'] } };
    expect(reasonFrom('pagerduty', 400, json)).to.equal(': Invalid Input Provided: Title cannot be empty.');
  });

  it('is read for GitHub, which names fields by codes or by sentences', () => {
    const json = (error: object) => ({ message: 'Validation Failed', errors: [{ resource: 'Issue', ...error }] });
    expect(reasonFrom('github', 422, json({ field: 'title', code: 'missing_field' }))).to.equal(
      ': Validation Failed: title: missing_field',
    );
    expect(reasonFrom('github', 422, json({ code: 'custom', message: 'No commits between main and x' }))).to.equal(
      ': Validation Failed: No commits between main and x',
    );
  });

  it('is read from the body of an API without a special rule', () => {
    const failureOf = (json: unknown) =>
      responseFailure(toolOf(), providerOf(), { status: 400, headers: {}, json }, NOW);
    expect(failureOf({ fault: { faultstring: 'Quota used up' } })?.message).to.equal('faultstring: Quota used up');
    expect(failureOf({ ok: false, count: 3 })?.message).to.equal(undefined);
    expect(failureOf([])?.message).to.equal(undefined);
  });

  it('begins with the first text of any body whose places are not declared, and is missing if there is none', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/);
    const key = word.map((text) => `k_${text}`);
    const { body } = fc.letrec<{ body: unknown }>((tie) => ({
      body: fc.oneof(
        { depthSize: 'small', maxDepth: 5 },
        fc.oneof(fc.integer(), fc.constant(null), fc.boolean(), fc.constant(' ')),
        word.map((text) => `Text ${text}`),
        fc.array(tie('body'), { maxLength: 4 }),
        fc.dictionary(key, tie('body'), { maxKeys: 4 }),
      ),
    }));
    fc.assert(
      fc.property(body, (json) => {
        const first = firstText(json);
        const found = failureTexts(json, ['']);
        if (first === undefined) expect(found).to.equal(undefined);
        else expect(found?.split('; ')[0]).to.satisfy((text: string) => text.endsWith(first));
      }),
      { numRuns: 500 },
    );
  });

  it('stays short, and reads few values of a large body', () => {
    let read = 0;
    const item = () => ({
      get message() {
        read++;
        return 7;
      },
    });
    expect(failureTexts({ errors: Array.from({ length: 5_000 }, item) }, ['/errors'])).to.equal(undefined);
    expect(read).to.be.at.most(200);
    const errors = Array.from({ length: 50 }, (_, at) => `e${at}`);
    expect(failureTexts({ errors }, ['/errors'])).to.equal('e0; e1; e2');
    let deep: unknown = 'a text';
    for (let level = 0; level < 10_000; level++) deep = { deep };
    expect(failureTexts(deep, [''])).to.equal(undefined);
  });
});
