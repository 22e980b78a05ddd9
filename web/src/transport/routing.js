// The way of one channel to a machine behind a balancer, and the leaving of one that is full.
import { newRoutingId } from '../settings/routing_id.js';

/** The device's side of a session. @typedef {{opened: object | null}} Holder */

export class Route {
  /**
   * @param {string | null} [id] the routing id that connections are made with; null: another one each time
   * @param {() => string} [make]
   */
  constructor(id = null, make = newRoutingId) {
    this._make = make;
    this.id = id ?? make();
    /** @type {Set<WeakRef<Holder>>} */
    this._holders = new Set();
  }

  /** Sessions of `holder` go this way. @param {Holder} holder */
  carries(holder) {
    this._tidy();
    this._holders.add(new WeakRef(holder));
  }

  /**
   * Whether nobody but `holder` has a session at its end, which it would lose by another way.
   * @param {Holder} holder
   */
  isFree(holder) {
    return this._tidy().every((other) => other === holder || other.opened === null);
  }

  /** Connections that are made from here on go another way. @param {string | null} [id] */
  change(id = null) {
    this.id = id ?? this._make();
  }

  /** Forgets who is gone. @returns {Holder[]} those who are there */
  _tidy() {
    const there = [];
    for (const each of this._holders) {
      const holder = each.deref();
      if (holder) there.push(holder);
      else this._holders.delete(each);
    }
    return there;
  }
}

/** @param {string} url @param {Route | null} route null: nobody is told anything */
export function routed(url, route) {
  return route === null ? url : `${url}?s=${route.id}`;
}
