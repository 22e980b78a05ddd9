import{a}from"./chunk-L4RSVJA6.js";import"./chunk-UNNZY56F.js";import"./chunk-VFDRVG7N.js";export{a as Here};
