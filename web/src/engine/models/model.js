import { Ends } from '../../ends/ends.js';
import { Embedding } from '../../generation/embedding.js';
import { HeadSpec } from '../../generation/head_spec.js';
import { ChatTemplate } from '../../text/template/template.js';
import { ModelTokenizer } from '../../text/tokenizer/tokenizer.js';
import { ModelForms } from './forms.js';

/** @typedef {import('../../weights/store.js').StoredModel} StoredModel */
/** @typedef {import('../../../types/gatelink.d.ts').DType} DType */

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The ends of a stored model, opened: tokenizer, template, embedding, LM head. */
export class OpenModel {
  /**
   * @param {import('../../../types/gatelink.d.ts').Manifest} manifest
   * @param {ModelTokenizer} tokenizer
   * @param {ChatTemplate | null} template
   * @param {Ends} ends
   */
  constructor(manifest, tokenizer, template, ends) {
    this.manifest = manifest;
    this.tokenizer = tokenizer;
    this.template = template;
    this.ends = ends;
    this.forms = new ModelForms(tokenizer, { rows: ends.head.rows, eos: manifest.eosTokenIds });
    /** @type {Map<string, Embedding>} */
    this._embeddings = new Map();
  }

  /**
   * Throws the errors of text, ends and weights.
   * @param {StoredModel} stored
   * @param {(fraction: number) => void} onPrepare
   */
  static async open(stored, onPrepare) {
    const { manifest } = stored;
    const tokenizer = ModelTokenizer.open(utf8.decode(await stored.bytes(manifest.tokenizer)), manifest.vocabSize);
    const template = await openTemplate(stored);
    const shards = {
      embedding: stored.shards(manifest.embedding.file),
      head: stored.shards(manifest.head.file),
    };
    const ends = await Ends.open({ manifest, shards, spec: await headSpec(stored), onPrepare });
    return new OpenModel(manifest, tokenizer, template, ends);
  }

  /**
   * Rows [n, H] of token ids as they travel in `dtype`.
   * @param {number[]} ids
   * @param {DType} dtype
   * @returns {Promise<Float32Array>}
   */
  rows(ids, dtype) {
    const compute = dtype === 'i8' ? 'f32' : dtype;
    let embedding = this._embeddings.get(compute);
    if (embedding === undefined) {
      const raw = (/** @type {Int32Array} */ wanted) => this.ends.rows(wanted);
      const { embedding: entry, hiddenSize } = this.manifest;
      embedding = new Embedding(raw, hiddenSize, entry.scale, compute);
      this._embeddings.set(compute, embedding);
    }
    return embedding.lookup(ids, compute);
  }

  /** Ends the workers; their files are free when this has resolved. */
  async close() {
    this.template?.close();
    await this.forms.close();
    await this.ends.close();
  }
}

/** @param {StoredModel} stored */
async function openTemplate(stored) {
  const { chatTemplate, specialTokens } = stored.manifest;
  if (chatTemplate === null) return null;
  return new ChatTemplate(utf8.decode(await stored.bytes(chatTemplate)), specialTokens);
}

/** @param {StoredModel} stored */
async function headSpec(stored) {
  const { bias, softcap, logitScale, divide } = stored.manifest.head;
  const values = bias === null ? null : new Float32Array((await stored.bytes(bias)).slice().buffer);
  return new HeadSpec({ bias: values, softcap, scale: logitScale, divide });
}
