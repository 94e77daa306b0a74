import type { AccountInputs } from '../connectors/account-value.ts';
import type { AuthPattern } from '../connectors/auth-pattern.ts';
import { baseUrlOf } from '../connectors/base-url.ts';
import type { Credential } from '../connectors/credential.ts';
import { placeCredential } from '../connectors/placement.ts';
import type { ProviderDefinition } from '../connectors/provider.ts';
import { type StoredFiles, storedFileIds } from './file-input.ts';
import type { CheckedInput, InputChecker } from './input.ts';
import { openCursor } from './pagination.ts';
import { renderRequest } from './request.ts';
import { draftRequest, type RequestDraft, type RequestFacts } from './request-draft.ts';
import { checkLaterRequests } from './step-request.ts';
import type { Tool } from './tool.ts';

/** A tool call: the tool, the account's data and the input. */
export interface ToolCall {
  tool: Tool;
  /** The provider of the account; `toolFits` checks whether the tool can be used with it. */
  provider: ProviderDefinition;
  /** The authorization pattern of the account. */
  pattern: AuthPattern;
  account: AccountInputs;
  /** The input as the caller sent it. */
  toolInput: unknown;
  /** The checked input, if the check has already taken place; then `toolInput` is not used. */
  checked?: CheckedInput | undefined;
  /** Sent as the idempotency key if the provider supports such keys and the tool is not idempotent itself. */
  executionId: string;
}

/** A call whose input was validated and whose request can be rendered. */
export interface PreparedCall extends RequestFacts {
  pattern: AuthPattern;
  /**
   * The rendered request without its credential. Undefined for tools of MCP servers, and if the request must be
   * rendered again, because the page or the stored files differ.
   */
  draft?: RequestDraft | undefined;
  /** Whether the request goes to a host that must not get the credential. */
  withoutCredential?: boolean;
}

const NO_FILES: StoredFiles = new Map();

/** The request of a dry run, as it is shown to users. */
export interface DryRunRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /**
   * A JSON body as its value, a multipart body as an object of its members, any other body as text. A file is shown as
   * its name, type and size. Omitted without a body.
   */
  body?: unknown;
}

/**
 * Checks everything about a call that can be checked before its credential is decrypted, so that an invalid call causes
 * neither an execution record nor a refresh of the credential.
 *
 * @throws ApiError INVALID_TOOL_INPUT, INVALID_API_CONFIG, PROVIDER_HAS_NO_BASE_URL
 */
export function prepareCall(call: ToolCall, inputs: InputChecker): PreparedCall {
  const { tool, provider, pattern, account, executionId } = call;
  const { input, cursor } = call.checked ?? inputs.check(tool, call.toolInput);
  const at = cursor === undefined ? undefined : openCursor(tool, cursor);
  const facts = { tool, provider, pattern, account, input, at, idempotencyKey: executionId };
  const draft = tool.mcp ? undefined : draftRequest(facts);
  // The protocol determines the request to an MCP server, so only its address is checked here.
  if (tool.mcp) baseUrlOf(provider, account);
  // Stored files are read when the call runs. The draft was made with empty files, so it is not kept for such calls.
  const prepared = { ...facts, files: NO_FILES, draft: storedFileIds(tool, input).length > 0 ? undefined : draft };
  checkLaterRequests(prepared);
  return prepared;
}

/** Returns the same call for another page of its result. */
export function pageOf(call: PreparedCall, cursor: string): PreparedCall {
  return { ...call, at: openCursor(call.tool, cursor), draft: undefined };
}

/** Returns the same call with the stored files that it names. */
export function withFiles(call: PreparedCall, files: StoredFiles): PreparedCall {
  return { ...call, files, draft: undefined };
}

/**
 * Returns the exact request of a call with its credential masked. Nothing is sent.
 *
 * @throws ApiError as `executeTool` does before sending
 */
export function dryRun(call: PreparedCall, credential: Credential): DryRunRequest {
  const request = renderRequest(call, placeCredential(call.pattern, credential), { masked: true });
  const signed = credential.kind === 'signer' ? credential.signer.preview(request) : request;
  const { method, url, headers } = signed;
  if (signed.body === undefined) return { method, url, headers };
  // A signature can be added as a field of a form body. Then the signed body is shown instead of the preview.
  return { method, url, headers, body: signed.body === request.body ? request.preview : signed.body };
}
