import{a}from"./chunk-3JPCDMWA.js";import"./chunk-WJJAPQKV.js";import"./chunk-FLBYUEKG.js";export{a as Here};
