import{a}from"./chunk-FDVZ5UFA.js";import"./chunk-DI5MELRN.js";import"./chunk-HDXE3QRS.js";export{a as Here};
